// The limit: bare Bun.serve and Bun.sql doing the same work as the service (key lookup by hash, token signature or
// check, one statement) and returning the same bytes. Nothing is validated that the load does not need. One statement
// for each request: only a server that answers several requests with one statement can be faster.
import { createHash, createHmac } from "node:crypto"
import { SQL } from "bun"
import { getAddress, recoverMessageAddress } from "viem"
import { type Change, canonical, hex, type PaymentRow, refCode, token, usd, view as viewOf } from "./rows.ts"

const env = process.env
const sql = new SQL(env["DATABASE_URL"] ?? "", { max: 16 })
const [kid = "", secret = ""] = (env["INTENT_TOKEN_SECRETS"] ?? "").split(":")
const baseUrl = env["BASE_URL"] ?? ""
const header = Buffer.from(JSON.stringify({ alg: "HS256", typ: "intent+jwt", kid })).toString("base64url")

interface Owner {
  merchant_id: string
  receiver_test: Uint8Array
}

const key = async (request: Request) => {
  const text = (request.headers.get("authorization") ?? "").slice(7)
  const hash = createHash("sha256").update(text).digest()
  const [row] = await sql`
    SELECT k.id, k.kind, k.env, k.permission, m.id AS merchant_id, m.name, m.logo_url, m.receiver_test, m.receiver_live,
      m.identity_audience
    FROM api_keys k JOIN merchants m ON m.id = k.merchant_id WHERE k.hash = ${hash} AND k.revoked_at IS NULL`
  return row as Owner
}

const checksummed = new Map<string, string>()
const address = (bytes: Uint8Array) => {
  const text = hex(bytes)
  const known = checksummed.get(text)
  if (known !== undefined) return known
  const made = getAddress(text)
  checksummed.set(text, made)
  return made
}

const view = (row: PaymentRow) => viewOf(row, address)

let count = 0
const json = (body: unknown, status = 200) =>
  Response.json(body, {
    status,
    headers: { "cache-control": "no-store", "x-request-id": `req_limit${++count}` }
  })

const sign = (claims: unknown) => {
  const text = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`
}
const check = (jws: string) => {
  const [head, payload = "", signature] = jws.split(".")
  if (createHmac("sha256", secret).update(`${head}.${payload}`).digest("base64url") !== signature)
    throw new Error("forged")
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString())
  if (claims.iss !== baseUrl || claims.aud !== baseUrl || claims.exp <= Date.now() / 1000)
    throw new Error("stale")
  return claims
}

/** The address that a DID token proves. */
const buyer = async (didToken: string) => {
  const [proof, claim] = JSON.parse(Buffer.from(didToken, "base64").toString())
  const { iss, ext, nbf, aud } = JSON.parse(claim)
  const now = Date.now() / 1000
  const recovered = await recoverMessageAddress({ message: claim, signature: proof })
  if (ext <= now || nbf > now + 300 || aud !== baseUrl || iss.slice(9) !== recovered)
    throw new Error("not proven")
  return recovered
}

Bun.serve({
  port: Number(env["PORT"]),
  hostname: "127.0.0.1",
  routes: {
    "/readyz": new Response("ok"),
    "/api/v1/payment-intents": {
      POST: async (request) => {
        const owner = await key(request)
        const body = (await request.json()) as { amount: string; intentUrl: string }
        const iat = Math.floor(Date.now() / 1000)
        const receiver = address(owner.receiver_test)
        const intent = {
          amount: usd(BigInt(body.amount.replace(".", "")) * 10_000n),
          currency: "USD",
          mode: "test",
          receiver,
          token
        }
        const claims = {
          jti: Bun.randomUUIDv7(),
          amount: intent.amount,
          intentUrl: body.intentUrl,
          merchant: owner.merchant_id,
          env: "test",
          receiver,
          token,
          iss: baseUrl,
          aud: baseUrl,
          iat,
          exp: iat + 300
        }
        return json({ intent, intentToken: sign(claims) }, 201)
      }
    },
    "/api/v1/payments": {
      GET: async (request) => {
        const owner = await key(request)
        const rows = (await sql`
          SELECT id, status, amount, ref_code, intent_url, payer_type, created_at, reported_at, transaction_id,
            payer_address, settled_at, failure_reason
          FROM payments WHERE merchant_id = ${owner.merchant_id} AND env = 'test'
          ORDER BY created_at DESC, id DESC LIMIT 21`) as Array<PaymentRow>
        return json({ payments: rows.slice(0, 20).map(view), hasMore: rows.length > 20 })
      },
      POST: async (request) => {
        const owner = await key(request)
        const { intentToken } = (await request.json()) as { intentToken: string }
        const claims = check(intentToken)
        if (claims.merchant !== owner.merchant_id) return json({}, 403)
        const atomic = (BigInt(claims.amount.replace(".", "")) * 10_000n).toString()
        const [row] = (await sql`
          WITH inserted AS (
            INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type, created_at)
            VALUES (${claims.jti}, ${claims.merchant}, 'test', 'pending', ${atomic}::numeric, ${refCode()}, ${claims.intentUrl},
              ${Buffer.from(claims.receiver.slice(2), "hex")}, 'human', ${new Date()})
            ON CONFLICT (id) DO NOTHING RETURNING *
          )
          SELECT *, true AS created FROM inserted
          UNION ALL SELECT *, false AS created FROM payments WHERE id = ${claims.jti} AND NOT EXISTS (SELECT 1 FROM inserted)`) as Array<
          PaymentRow & { created: boolean }
        >
        return row === undefined ? json({}, 500) : json({ payment: view(row) }, row.created ? 201 : 200)
      }
    },
    "/api/v1/payments/:id": {
      GET: async (request) => {
        const owner = await key(request)
        const [row] = (await sql`
          SELECT id, status, amount, ref_code, intent_url, payer_type, created_at, reported_at, transaction_id,
            payer_address, settled_at, failure_reason
          FROM payments WHERE id = ${request.params.id} AND merchant_id = ${owner.merchant_id} AND env = 'test'`) as Array<PaymentRow>
        return row === undefined ? json({}, 404) : json({ payment: view(row) })
      },
      PATCH: async (request) => {
        const owner = await key(request)
        const body = (await request.json()) as {
          buyerDidToken: string
          transactionId: string
          tokenChanges: ReadonlyArray<Change>
        }
        const payer = await buyer(body.buyerDidToken)
        const [row] = (await sql`
          SELECT id, status, amount, ref_code, intent_url, payer_type, created_at, reported_at, transaction_id,
            payer_address, settled_at, failure_reason, token_changes
          FROM payments WHERE id = ${request.params.id} AND merchant_id = ${owner.merchant_id} AND env = 'test'`) as Array<
          PaymentRow & { token_changes: ReadonlyArray<Change> | null }
        >
        if (row?.transaction_id == null || row.payer_address === null || row.token_changes === null)
          return json({}, 404)
        const same =
          hex(row.transaction_id) === body.transactionId &&
          address(row.payer_address) === payer &&
          canonical(row.token_changes) === canonical(body.tokenChanges)
        return same ? json({ payment: view(row) }) : json({}, 409)
      }
    }
  }
})
