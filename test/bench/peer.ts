// The peer: the same endpoints as a good engineer writes them by hand with Hono,
// zod, postgres.js and jose.
import { createHash } from "node:crypto"
import { Hono } from "hono"
import { jwtVerify, SignJWT } from "jose"
import postgres from "postgres"
import { z } from "zod"

const env = process.env
const sql = postgres(env["DATABASE_URL"] ?? "", { max: 16, onnotice: () => {} })
const [kid = "", secretText = ""] = (env["INTENT_TOKEN_SECRETS"] ?? "").split(":")
const secret = new TextEncoder().encode(secretText)
const baseUrl = env["BASE_URL"] ?? ""
const token = { address: "0x036CbD53842c5426634e7929541eC2318f3dCF7e", chainId: 84532 }
const receiver = env["RECEIVER"] ?? ""
const buyer = env["BUYER"] ?? ""

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
  receiver: z.string()
})
const ListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  env: z.enum(["test", "live"]).optional()
})
const Id = z.uuid()

const atomicOf = (amount: string) => {
  const [integer = "0", fraction = ""] = amount.split(".")
  return BigInt(integer) * 1_000_000n + BigInt(fraction.padEnd(6, "0"))
}
const usd = (atomic: bigint) => {
  const fraction = (atomic % 1_000_000n).toString().padStart(6, "0")
  return `${atomic / 1_000_000n}.${fraction.slice(0, 2)}${fraction.slice(2).replace(/0+$/, "")}`
}

const view = (row: postgres.Row) => ({
  id: row["id"],
  amount: usd(BigInt(row["amount"])),
  currency: "USD",
  env: row["env"],
  livemode: row["env"] === "live",
  status: row["status"],
  refCode: row["ref_code"],
  intentUrl: row["intent_url"],
  createdAt: row["created_at"].toISOString(),
  payerType: row["payer_type"],
  ...(row["reported_at"] === null
    ? {}
    : {
        payerAddress: buyer,
        reportedAt: row["reported_at"].toISOString(),
        reportedTransactionId: `0x${row["transaction_id"].toString("hex")}`
      }),
  ...(row["settled_at"] === null
    ? {}
    : { settledAt: row["settled_at"].toISOString(), failureReason: row["failure_reason"] }),
  token
})

const app = new Hono<{ Variables: { merchant: string; requestId: string } }>()

app.use("*", async (context, next) => {
  context.set("requestId", crypto.randomUUID())
  await next()
  context.header("cache-control", "no-store")
  context.header("x-request-id", context.get("requestId"))
})
app.get("/healthz", (context) => context.json({ status: "ok" }))
app.use("/api/*", async (context, next) => {
  const match = /^Bearer (\S+)$/.exec(context.req.header("authorization") ?? "")
  const hash = createHash("sha256")
    .update(match?.[1] ?? "")
    .digest()
  const [row] = await sql`
    SELECT k.id, k.kind, k.env, k.permission, m.id AS merchant_id, m.name, m.logo_url, m.receiver_test, m.receiver_live, m.identity_audience
    FROM api_keys k JOIN merchants m ON m.id = k.merchant_id WHERE k.hash = ${hash} AND k.revoked_at IS NULL`
  if (row === undefined) return context.json({ error: { code: "INVALID_API_KEY" } }, 401)
  context.set("merchant", row["merchant_id"])
  return next()
})

app.post("/api/v1/payment-intents", async (context) => {
  const body = Intent.safeParse(await context.req.json().catch(() => undefined))
  if (!body.success) return context.json({ error: { code: "INVALID_REQUEST" } }, 400)
  const amount = usd(atomicOf(body.data.amount))
  const intentToken = await new SignJWT({
    amount,
    intentUrl: body.data.intentUrl,
    merchant: context.get("merchant"),
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
  if (!body.success) return context.json({ error: { code: "INVALID_REQUEST" } }, 400)
  const verified = await jwtVerify(body.data.intentToken, secret, {
    algorithms: ["HS256"],
    issuer: baseUrl,
    audience: baseUrl,
    typ: "intent+jwt"
  })
  const claims = Claims.parse(verified.payload)
  const refCode = `PAY-${Math.random().toString(36).slice(2, 10).toUpperCase().padEnd(8, "0")}`
  const inserted = await sql`
    INSERT INTO payments (id, merchant_id, env, status, amount, ref_code, intent_url, receiver, payer_type, created_at)
    VALUES (${claims.jti}, ${claims.merchant}, 'test', 'pending', ${atomicOf(claims.amount).toString()}, ${refCode}, ${claims.intentUrl},
      ${Buffer.from(receiver.slice(2), "hex")}, 'human', ${new Date()})
    ON CONFLICT (id) DO NOTHING RETURNING *`
  const [row] = inserted.length > 0 ? inserted : await sql`SELECT * FROM payments WHERE id = ${claims.jti}`
  return context.json({ payment: view(row ?? {}) }, inserted.length > 0 ? 201 : 200)
})

app.get("/api/v1/payments", async (context) => {
  const query = ListQuery.safeParse(context.req.query())
  if (!query.success) return context.json({ error: { code: "INVALID_REQUEST" } }, 400)
  const rows = await sql`
    SELECT * FROM payments WHERE merchant_id = ${context.get("merchant")} AND env = 'test'
    ORDER BY created_at DESC, id DESC LIMIT ${query.data.limit + 1}`
  return context.json({
    payments: rows.slice(0, query.data.limit).map(view),
    hasMore: rows.length > query.data.limit
  })
})

app.get("/api/v1/payments/:id", async (context) => {
  const id = Id.safeParse(context.req.param("id"))
  if (!id.success) return context.json({ error: { code: "INVALID_REQUEST" } }, 400)
  const [row] =
    await sql`SELECT * FROM payments WHERE id = ${id.data} AND merchant_id = ${context.get("merchant")} AND env = 'test'`
  return row === undefined
    ? context.json({ error: { code: "PAYMENT_NOT_FOUND" } }, 404)
    : context.json({ payment: view(row) })
})

Bun.serve({ port: Number(env["PORT"]), hostname: "127.0.0.1", fetch: app.fetch })
