// The output of a run of the suite: progress, each failure with its test's output, skipped tests with the reason, and a
// count.

/** A test's output is stored until its verdict, up to this many lines. */
const mostKept = 400

export const makeReport = (files: number) => {
  const began = Date.now()
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const failures: Array<string> = []
  const skips = new Set<string>()
  const begun = new Set<string>()
  let shownAt = 0
  let status = 0
  const seconds = () => Math.round((Date.now() - began) / 1000)
  const say = (line: string) => console.log(line)

  const progress = (file: string) => {
    begun.add(file)
    if (Date.now() - shownAt < 5_000) return
    shownAt = Date.now()
    say(
      `${String(seconds()).padStart(5)} s  ${begun.size} of ${files} files, ${counts.passed} passed, ${counts.failed} failed`
    )
  }

  /** Reads one stream of a running `bun test`. */
  const read = async (stream: ReadableStream<Uint8Array>) => {
    let kept: Array<string> = []
    let isSummary = false
    const line = (text: string) => {
      const [, verdict] = /^\((pass|fail|skip|todo)\)/.exec(text) ?? []
      // Bun repeats failed and skipped tests below such a line.
      if (/^\d+ tests? (failed|skipped|todo)/.test(text)) isSummary = true
      else if (/^test\/\S+\.test\.ts:$/.test(text)) {
        isSummary = false
        kept = []
        progress(text)
      } else if (verdict === undefined) kept = [...kept.slice(1 - mostKept), text]
      else if (!isSummary) {
        if (verdict === "pass") counts.passed++
        else if (verdict === "fail") {
          counts.failed++
          const failure = [...kept, text].join("\n")
          failures.push(failure)
          say(failure)
        } else {
          counts.skipped++
          skips.add(text)
        }
        kept = []
      }
    }
    const decoder = new TextDecoder()
    let rest = ""
    for await (const chunk of stream) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
      rest = lines.pop() ?? ""
      for (const one of lines) line(one)
    }
    // Failures of Bun itself, such as a file that throws before its tests.
    if (kept.some((text) => /^error|unhandled/i.test(text))) failures.push(kept.join("\n"))
  }

  return {
    say,
    read,
    /** A `bun test` has ended with this exit code. */
    ended: (code: number) => {
      if (code !== 0) status = code
    },
    /** Prints the count; returns the exit code of the run. */
    end: (where: string): number => {
      if (skips.size > 0) say(`\nSkipped:\n${[...skips].join("\n")}`)
      if (failures.length > 0) say(`\nWhat failed:\n${failures.join("\n\n")}`)
      if (status !== 0 && counts.failed === 0) counts.failed = 1
      const { failed, passed, skipped } = counts
      say(`\n${passed} passed, ${failed} failed, ${skipped} skipped in ${seconds()} s, on ${where}`)
      return status
    }
  }
}
