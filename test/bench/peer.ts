// The peer: the same endpoints, as a good engineer writes them by hand with Hono, zod, postgres.js, jose and viem.
import { createHash } from "node:crypto"
import { type Context, Hono } from "hono"
import { jwtVerify, SignJWT } from "jose"
import postgres from "postgres"
import { getAddress, type Hex, recoverMessageAddress } from "viem"
import { z } from "zod"
import { type Change, canonical, hex, type PaymentRow, refCode, token, usd, view as viewOf } from "./rows.ts"

const env = process.env
const sql = postgres(env["DATABASE_URL"] ?? "", { max: 16, onnotice: () => {} })
const [kid = "", secretText = ""] = (env["INTENT_TOKEN_SECRETS"] ?? "").split(":")
const baseUrl = env["BASE_URL"] ?? ""
// Imported once: jose imports raw bytes again for every token.
const secret = await crypto.subtle.importKey(
  "raw",
  new TextEncoder().encode(secretText),
  { name: "HMAC", hash: "SHA-256" },
  false,
  ["sign", "verify"]
)

const Address = z.string().regex(/^0x[0-9a-fA-F]{40}$/)
const Intent = z.strictObject({
  amount: z
    .string()
    .regex(/^\d{1,14}(\.\d{1,6})?$/)
    .refine((text) => /[1-9]/.test(text)),
  intentUrl: z.url().max(2048)
})
const Open = z.strictObject({ intentToken: z.string().min(1).max(8192) })
const Claims = z.object({
  jti: z.uuid(),
  amount: z.string(),
  intentUrl: z.string(),
  merchant: z.uuid(),
  env: z.literal("test"),
  receiver: Address
})
const TokenChange = z.strictObject({
  amountAtomic: z.string().regex(/^(0|[1-9]\d{0,77})$/),
  chainId: z.int(),
  receiver: Address,
  tokenAddress: Address
})
const Report = z.strictObject({
  buyerDidToken: z.string().min(1).max(16_384),
  transactionId: z
    .string()
    .regex(/^0x[0-9a-fA-F]{64}$/)
    .toLowerCase(),
  tokenChanges: z.array(TokenChange).min(1).max(16)
})
const DidToken = z.tuple([z.string().regex(/^0x(?:[0-9a-fA-F]{2})+$/), z.string()])
const DidClaim = z.object({
  iat: z.number(),
  ext: z.number(),
  nbf: z.number(),
  iss: z.string().startsWith("did:ethr:"),
  sub: z.string(),
  aud: z.string(),
  tid: z.string()
})
const ListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  env: z.enum(["test", "live"]).optional()
})
const Id = z.uuid()

interface Owner {
  readonly merchant_id: string
  readonly receiver_test: Buffer
}

const atomicOf = (amount: string) => {
  const [integer = "0", fraction = ""] = amount.split(".")
  return BigInt(integer) * 1_000_000n + BigInt(fraction.padEnd(6, "0"))
}
const columns = sql`id, env, status, amount, ref_code, intent_url, payer_type, created_at, reported_at,
  transaction_id, payer_address, settled_at, failure_reason`

const view = (row: PaymentRow) => viewOf(row, (bytes) => getAddress(hex(bytes)))

/** The address that a DID token proves, or undefined. */
const buyerOf = async (didToken: string) => {
  try {
    const [proof, text] = DidToken.parse(JSON.parse(atob(didToken)))
    const claim = DidClaim.parse(JSON.parse(text))
    const now = Date.now() / 1000
    if (claim.ext <= now || claim.nbf > now + 300 || claim.aud !== baseUrl) return undefined
    const address = await recoverMessageAddress({ message: text, signature: hexOf(proof) })
    return address === getAddress(claim.iss.slice("did:ethr:".length)) ? address : undefined
  } catch {
    return undefined
  }
}
const hexOf = (text: string): Hex => `0x${text.slice(2)}`

interface Variables {
  owner: Owner
  requestId: string
}
const app = new Hono<{ Variables: Variables }>()

const refuse = (context: Context, status: 400 | 401 | 403 | 404 | 409, code: string) =>
  context.json({ error: { code, requestId: context.get("requestId") } }, status)

app.use("*", async (context, next) => {
  context.set("requestId", crypto.randomUUID())
  await next()
  context.header("cache-control", "no-store")
  context.header("x-request-id", context.get("requestId"))
})
app.get("/readyz", (context) => context.json({ status: "ok" }))
app.use("/api/*", async (context, next) => {
  const match = /^Bearer (\S+)$/.exec(context.req.header("authorization") ?? "")
  const hash = createHash("sha256")
    .update(match?.[1] ?? "")
    .digest()
  const [row] = await sql<Array<Owner>>`
    SELECT k.id, k.kind, k.env, k.permission, m.id AS merchant_id, m.name, m.logo_url, m.receiver_test, m.receiver_live, m.identity_audience
    FROM api_keys k JOIN merchants m ON m.id = k.merchant_id WHERE k.hash = ${hash} AND k.revoked_at IS NULL`
  if (row === undefined) return refuse(context, 401, "INVALID_API_KEY")
  context.set("owner", row)
  return next()
})

app.post("/api/v1/payment-intents", async (context) => {
  const body = Intent.safeParse(await context.req.json().catch(() => undefined))
  if (!body.success) return refuse(context, 400, "INVALID_REQUEST")
  const owner = context.get("owner")
  const amount = usd(atomicOf(body.data.amount))
  const receiver = getAddress(hex(owner.receiver_test))
  const intentToken = await new SignJWT({
    amount,
    intentUrl: body.data.intentUrl,
    merchant: owner.merchant_id,
    env: "test",
    receiver,
    token
  })
    .setProtectedHeader({ alg: "HS256", typ: "intent+jwt", kid })
    .setIssuer(baseUrl)
    .setAudience(baseUrl)
    .setJti(Bun.randomUUIDv7())
    .setIssuedAt()
    .setExpirationTime("5m")
    .sign(secret)
  return context.json(
    { intent: { amount, currency: "USD", mode: "test", receiver, token }, intentToken },
    201
  )
})

app.post("/api/v1/payments", async (context) => {
  const body = Open.safeParse(await context.req.json().catch(() => undefined))
  if (!body.success) return refuse(context, 400, "INVALID_REQUEST")
  const verified = await jwtVerify(body.data.intentToken, secret, {
    algorithms: ["HS256"],
    issuer: baseUrl,
    audience: baseUrl,
    typ: "intent+jwt"
  }).catch(() => undefined)
  const claims = Claims.safeParse(verified?.payload)
  if (!claims.success) return refuse(context, 400, "INVALID_INTENT_TOKEN")
  const { jti, amount, intentUrl, merchant, receiver } = claims.data
  if (merchant !== context.get("owner").merchant_id) return refuse(context, 403, "INTENT_TOKEN_KEY_MISMATCH")
  const inserted = await sql<Array<PaymentRow>>`
    INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type, created_at)
    VALUES (${jti}, ${merchant}, 'test', 'pending', ${atomicOf(amount).toString()}, ${refCode()}, ${intentUrl},
      ${Buffer.from(receiver.slice(2), "hex")}, 'human', ${new Date()})
    ON CONFLICT (id) DO NOTHING RETURNING ${columns}`
  const [row] =
    inserted.length > 0
      ? inserted
      : await sql<Array<PaymentRow>>`SELECT ${columns} FROM payments WHERE id = ${jti}`
  if (row === undefined) return refuse(context, 404, "PAYMENT_NOT_FOUND")
  return context.json({ payment: view(row) }, inserted.length > 0 ? 201 : 200)
})

app.get("/api/v1/payments", async (context) => {
  const query = ListQuery.safeParse(context.req.query())
  if (!query.success) return refuse(context, 400, "INVALID_REQUEST")
  const rows = await sql<Array<PaymentRow>>`
    SELECT ${columns} FROM payments WHERE merchant_id = ${context.get("owner").merchant_id} AND env = 'test'
    ORDER BY created_at DESC, id DESC LIMIT ${query.data.limit + 1}`
  return context.json({
    payments: rows.slice(0, query.data.limit).map(view),
    hasMore: rows.length > query.data.limit
  })
})

app.get("/api/v1/payments/:id", async (context) => {
  const id = Id.safeParse(context.req.param("id"))
  if (!id.success) return refuse(context, 400, "INVALID_REQUEST")
  const [row] = await sql<Array<PaymentRow>>`
    SELECT ${columns} FROM payments
    WHERE id = ${id.data} AND merchant_id = ${context.get("owner").merchant_id} AND env = 'test'`
  return row === undefined ? refuse(context, 404, "PAYMENT_NOT_FOUND") : context.json({ payment: view(row) })
})

app.patch("/api/v1/payments/:id", async (context) => {
  const id = Id.safeParse(context.req.param("id"))
  const body = Report.safeParse(await context.req.json().catch(() => undefined))
  if (!id.success || !body.success) return refuse(context, 400, "INVALID_REQUEST")
  const { buyerDidToken, transactionId, tokenChanges } = body.data
  const payer = await buyerOf(buyerDidToken)
  if (payer === undefined) return refuse(context, 401, "INVALID_BUYER_TOKEN")
  const [row] = await sql<Array<PaymentRow & { token_changes: ReadonlyArray<Change> }>>`
    SELECT ${columns}, token_changes FROM payments
    WHERE id = ${id.data} AND merchant_id = ${context.get("owner").merchant_id} AND env = 'test'`
  if (row === undefined) return refuse(context, 404, "PAYMENT_NOT_FOUND")
  const same =
    row.transaction_id !== null &&
    row.payer_address !== null &&
    hex(row.transaction_id) === transactionId &&
    getAddress(hex(row.payer_address)) === payer &&
    canonical(row.token_changes) === canonical(tokenChanges)
  return same ? context.json({ payment: view(row) }) : refuse(context, 409, "PAYMENT_REPORT_CONFLICT")
})

Bun.serve({ port: Number(env["PORT"]), hostname: "127.0.0.1", fetch: app.fetch })
