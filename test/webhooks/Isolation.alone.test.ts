// Runs the isolation measurement in a process of its own, because the memory of a process that has run the whole suite
// shows nothing about fifty endpoints.
import { expect, test } from "bun:test"

test(`fifty hostile endpoints do not slow a healthy one`, async () => {
  const attempt = async () => {
    const child = Bun.spawn([process.execPath, "test", "./test/webhooks/isolation.alone.ts"], {
      stdout: "pipe",
      stderr: "pipe"
    })
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text()
    ])
    const code = await child.exited
    console.log(/healthy p99 .*/.exec(out + err)?.[0] ?? out + err)
    return code
  }
  // Other work on the machine may disturb one measurement, but not two.
  expect((await attempt()) === 0 || (await attempt()) === 0).toBe(true)
}, 180_000)
