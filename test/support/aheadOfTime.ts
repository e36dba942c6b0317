// For `bun --preload`: this machine's clock is AHEAD_SECONDS ahead.
const ahead = Number(process.env["AHEAD_SECONDS"] ?? 0) * 1000
const RealDate = Date
const now = () => RealDate.now() + ahead

Reflect.set(
  globalThis,
  "Date",
  new Proxy(RealDate, {
    construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
    get: (target, property) => (property === "now" ? now : Reflect.get(target, property))
  })
)
