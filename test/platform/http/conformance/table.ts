// The form of the conformance table, and what its cases share.
import { expect } from "bun:test"
import type { Answer } from "../../../support/contractCheck.ts"
import type { TestService } from "../../../support/service.ts"
import type { Shop } from "../shop.ts"

export interface World {
  readonly shop: Shop
  /** Another merchant of the same deployment. */
  readonly other: Shop
  readonly service: TestService
  /** Another merchant, which no other case uses. */
  readonly fresh: () => Promise<Shop>
}

export interface Case {
  /** Section of docs/contract.md. */
  readonly section: string
  readonly name: string
  readonly run: (world: World) => Promise<void>
}

/** A file's own list of cases, and the function that adds to it. */
export const table = () => {
  const cases: Array<Case> = []
  const add = (section: string, name: string, run: Case["run"]) => void cases.push({ section, name, run })
  return { cases, add }
}

export const refused = (answer: Answer, status: number, code: string) =>
  expect<unknown>({ status: answer.status, code: answer.body?.error?.code }).toEqual({ status, code })

export const unknownId = "01a1fc34-7205-710e-9410-874fee9a4996"
export const someHash = `0x${"ab".repeat(32)}`
export const isoMillis = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export const intents = "/api/v1/payment-intents"
export const payments = "/api/v1/payments"
export const endpointPath = "/api/v1/webhook-endpoint"
