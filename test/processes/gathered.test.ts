import { expect, test } from "bun:test"
import { gathered } from "../../src/processes/gathered.ts"

test("series of several processes are told apart, and each family is named once", () => {
  const page = (requests: number, more = "") =>
    `# HELP requests Requests, in all
# TYPE requests counter
requests{route="a b",code="200"} ${requests}
requests ${requests + 1}
# HELP seconds Times
# TYPE seconds histogram
seconds_bucket{le="+Inf"} 2
seconds_sum 0.5
${more}`
  expect(
    gathered(
      new Map([
        [1, page(1)],
        [2, page(5, "# HELP last Only here\n# TYPE last gauge\nlast -1e-7\n")]
      ])
    )
  ).toBe(`# HELP requests Requests, in all
# TYPE requests counter
requests{process="1",route="a b",code="200"} 1
requests{process="1"} 2
requests{process="2",route="a b",code="200"} 5
requests{process="2"} 6
# HELP seconds Times
# TYPE seconds histogram
seconds_bucket{process="1",le="+Inf"} 2
seconds_sum{process="1"} 0.5
seconds_bucket{process="2",le="+Inf"} 2
seconds_sum{process="2"} 0.5
# HELP last Only here
# TYPE last gauge
last{process="2"} -1e-7
`)
  expect(gathered(new Map())).toBe("")
})
