// The parts of Medusa's payment module that the provider uses. It reads them only when it needs them, so a
// Medusa release without them still works.

export interface FoundSession {
  /** The session's data as the provider stores it; `amount` is the buyer's amount in USD. */
  readonly data: Readonly<Record<string, unknown>>
  /** The Quittance payment that authorized the session. */
  readonly paidBy: string | undefined
}

export interface FoundRefund {
  readonly id: string
  readonly note: string | undefined
  readonly createdAt: Date | undefined
}

export interface PaymentModule {
  /** Empty if the session was deleted; undefined if Medusa does not list sessions. */
  readonly sessions: (id: string) => Promise<ReadonlyArray<FoundSession> | undefined>
  /**
   * All refunds of the payment that this refund belongs to, including this one; undefined if Medusa does not
   * list them.
   */
  readonly refundsBeside: (id: string) => Promise<ReadonlyArray<FoundRefund> | undefined>
  readonly logError: (text: string) => void
}

interface Lister {
  readonly list: (filter: object, options: object) => Promise<unknown>
}

const isLister = (value: unknown): value is Lister =>
  typeof value === "object" && value !== null && "list" in value && typeof value.list === "function"

const isLogger = (value: unknown): value is { readonly error: (text: string) => void } =>
  typeof value === "object" && value !== null && "error" in value && typeof value.error === "function"

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

const foundSession = (session: unknown): FoundSession => {
  const paidBy = fieldOf(fieldOf(fieldOf(session, "payment"), "data"), "paymentId")
  const data = fieldOf(session, "data")
  return {
    data: typeof data === "object" && data !== null ? { ...data } : {},
    paidBy: typeof paidBy === "string" ? paidBy : undefined
  }
}

const foundRefund = (refund: unknown): FoundRefund => {
  const [id, note, createdAt] = ["id", "note", "created_at"].map((name) => fieldOf(refund, name))
  return {
    id: String(id),
    note: typeof note === "string" ? note : undefined,
    createdAt: createdAt instanceof Date ? createdAt : undefined
  }
}

export const paymentModule = (cradle: Readonly<Record<string, unknown>>): PaymentModule => {
  const resolved = (name: string): unknown => {
    try {
      return cradle[name]
    } catch {
      // The container throws if it does not have the module.
      return undefined
    }
  }
  return {
    sessions: async (id) => {
      const service = resolved("paymentSessionService")
      if (!isLister(service)) return undefined
      const sessions = await service.list({ id }, { relations: ["payment"], take: 1 })
      return Array.isArray(sessions) ? sessions.map(foundSession) : undefined
    },
    refundsBeside: async (id) => {
      const service = resolved("refundService")
      if (!isLister(service)) return undefined
      const [own] = [await service.list({ id }, { take: 1 })].flat()
      const payment = fieldOf(own, "payment_id")
      if (typeof payment !== "string") return undefined
      const refunds = await service.list({ payment_id: payment }, {})
      return Array.isArray(refunds) ? refunds.map(foundRefund) : undefined
    },
    logError: (text) => {
      const logger = resolved("logger")
      if (isLogger(logger)) logger.error(text)
      else console.error(text)
    }
  }
}
