// doctor's report on a node's rate.
import { expect } from "bun:test"
import { Effect } from "effect"
import { nodeRate } from "../../../../src/app/cli/doctor/nodeRate.ts"
import { makeSingleNode } from "../../../../src/chain/makeSingleNode.ts"
import { rpcProxy } from "../../../support/rpcProxy.ts"
import { liveEffect } from "../../../support/run.ts"

for (const [what, allowed, finding] of [
  ["answers all", 32, { level: "ok", message: expect.stringMatching(/^It answers 32 requests in \d+ ms$/) }],
  [
    "refuses some, in its own words",
    12,
    {
      level: "warning",
      message: expect.stringContaining(
        "It rejects 20 of 32 concurrent requests: 12/second request limit reached (-32007)"
      )
    }
  ]
] as const)
  liveEffect(`a node that ${what}`, () =>
    Effect.gen(function* () {
      let calls = 0
      const node = yield* rpcProxy(undefined, () =>
        ++calls > allowed
          ? { error: { code: -32_007, message: "12/second request limit reached" } }
          : { result: "0x10" }
      )
      expect(yield* nodeRate("node", makeSingleNode("test", node.url))).toMatchObject(finding)
    })
  )
