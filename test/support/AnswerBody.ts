// The fields of the service's answers, by the contract: each field as any of its endpoints may return it.
import type { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { Api } from "../../src/app/Api.ts"
import type { DashboardApi } from "../../src/dashboard/api/Api.ts"
import type { Envelope } from "../../src/platform/http/Envelope.ts"

type EndpointsOf<A> =
  A extends HttpApi.HttpApi<infer _Id, infer Groups> ? HttpApiGroup.Endpoints<Groups> : never
/** For one schema, or for several with several statuses. */
type EncodedOf<S> =
  S extends ReadonlyArray<infer One>
    ? EncodedOf<One>
    : S extends { readonly schema: { readonly Encoded: infer Encoded } }
      ? Encoded
      : never
type KeysOf<U> = U extends object ? (string extends keyof U ? never : keyof U) : never
type FieldOf<U, K extends PropertyKey> = U extends { readonly [P in K]: infer V }
  ? V
  : U extends { readonly [P in K]?: infer V }
    ? V | undefined
    : never
type Plain = ReadonlyArray<unknown> | string | number | boolean
type Fields<U> = { readonly [K in KeysOf<U>]: FieldOf<U, K> }
/** A name that several endpoints return has the fields of each. */
type Merged<U> = [U] extends [Plain]
  ? U
  : string extends keyof U
    ? U
    : [Extract<U, Plain>] extends [never]
      ? Fields<U>
      : Extract<U, Plain> & Fields<Exclude<U, Plain>>
type BodyOf<U> = { readonly [K in KeysOf<U>]: Merged<NonNullable<FieldOf<U, K>>> }

type Answered<A> = BodyOf<EncodedOf<HttpApiEndpoint.Success<EndpointsOf<A>>>>

export type AnswerBody = Omit<Answered<typeof Api>, "error"> & typeof Envelope.Encoded
export type DashboardBody = Omit<Answered<typeof DashboardApi>, "error"> & typeof Envelope.Encoded
