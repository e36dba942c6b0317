// The dashboard's files: small, public, under a policy that allows nothing inline.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { serviceForFile } from "../support/forFile.ts"

setDefaultTimeout(60_000)

const service = await serviceForFile()

describe("Files of the dashboard", () => {
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${service.baseUrl}${path}`, { headers, decompress: false })

  test("all scripts together are at most 120 kB gzipped, the styles at most 12 kB", async () => {
    const html = await (await get("/dashboard")).text()
    const scripts = [...html.matchAll(/<script src="([^"]+)"/g)].map((match) => match[1] ?? "")
    expect(scripts).toEqual(["/dashboard/app.js"])
    const size = async (path: string) => {
      const answer = await get(path, { "accept-encoding": "gzip" })
      expect(answer.headers.get("content-encoding")).toBe("gzip")
      return (await answer.arrayBuffer()).byteLength
    }
    expect(await size("/dashboard/app.js")).toBeLessThan(90_000)
    expect(await size("/dashboard/app.css")).toBeLessThan(12_000)
  })

  test("every page and file carries the policy: nothing inline, no framing, no sniffing", async () => {
    const id = "01a1fc34-7205-710e-9410-874fee9a4996"
    for (const path of [
      "/dashboard",
      "/dashboard/sign-in",
      `/dashboard/${id}/test`,
      `/dashboard/${id}/live/payments/${id}`,
      "/dashboard/app.js",
      "/dashboard/app.css",
      "/dashboard/icon.svg"
    ]) {
      const { status, headers } = await get(path)
      expect(status).toBe(200)
      const policy = headers.get("content-security-policy") ?? ""
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("script-src 'self'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toContain("unsafe")
      expect(headers.get("x-content-type-options")).toBe("nosniff")
      expect(headers.get("referrer-policy")).toBe("no-referrer")
      expect(headers.get("cache-control")).toBe("no-store")
    }
  })

  test("the shell has nothing inline, and contains no secret", async () => {
    const html = await (await get("/dashboard")).text()
    expect(html).not.toMatch(/<script>| style=| on[a-z]+="/)
    expect((await get("/dashboard")).headers.get("set-cookie")).toBeNull()
  })

  test("other methods and unknown paths are answered in the error envelope", async () => {
    const posted = await fetch(`${service.baseUrl}/dashboard`, { method: "POST" })
    expect(posted.status).toBe(405)
    expect(posted.headers.get("allow")).toBe("GET, HEAD")
    expect((await get("/dashboard/nothing")).status).toBe(404)
  })

  test("the image's files are enough to build the script", () => {
    const root = join(import.meta.dir, "../..")
    const image = mkdtempSync(join(tmpdir(), "quittance-image-"))
    try {
      const copied = readFileSync(join(root, "Dockerfile"), "utf8").matchAll(/^COPY (?!--from)(.+) \S+$/gm)
      for (const [, sources = ""] of copied) {
        for (const source of sources.split(" ")) {
          cpSync(join(root, source), join(image, source), { recursive: true })
        }
      }
      symlinkSync(join(root, "node_modules"), join(image, "node_modules"))
      const build = `const { outputs } = await Bun.build({ entrypoints: ["src/dashboard/browser/main.tsx"], target: "browser" })
        process.exit(outputs.length === 1 ? 0 : 1)`
      expect(Bun.spawnSync([process.execPath, "-e", build], { cwd: image }).exitCode).toBe(0)
    } finally {
      rmSync(image, { recursive: true, force: true })
    }
  })
})
