// DATABASE_URL with one server, several, and sockets.
import { expect, test } from "bun:test"
import { parseDatabaseUrl } from "../../../src/platform/database/DatabaseUrl.ts"

const cases = [
  [
    "postgres://shop:secret@db.example.com:6543/orders?sslmode=require",
    [{ host: "db.example.com", port: 6543 }],
    "postgres://shop:secret@db.example.com:6543/orders?sslmode=require",
    "orders at db.example.com:6543"
  ],
  [
    "postgresql://shop@one,two:5433/orders?target_session_attrs=read-write",
    [
      { host: "one", port: 5432 },
      { host: "two", port: 5433 }
    ],
    "postgresql://shop@one:5432/orders",
    "orders at one:5432, two:5433"
  ],
  [
    "postgres://shop@/orders?host=one,two&port=5432,5433",
    [
      { host: "one", port: 5432 },
      { host: "two", port: 5433 }
    ],
    "postgres://shop@one:5432/orders",
    "orders at one:5432, two:5433"
  ],
  [
    "postgres://shop@/orders?host=/run/postgresql",
    [{ path: "/run/postgresql/.s.PGSQL.5432" }],
    "postgres://shop@localhost:5432/orders?host=%2Frun%2Fpostgresql",
    "orders at /run/postgresql/.s.PGSQL.5432"
  ],
  [
    "postgres://shop:a%40b@[::1]:5432,[fe80::1]/orders",
    [
      { host: "::1", port: 5432 },
      { host: "fe80::1", port: 5432 }
    ],
    "postgres://shop:a%40b@[::1]:5432/orders",
    "orders at ::1:5432, fe80::1:5432"
  ],
  [
    "postgres://localhost",
    [{ host: "localhost", port: 5432 }],
    "postgres://localhost:5432",
    "postgres at localhost:5432"
  ]
] as const

for (const [text, servers, first, shown] of cases) {
  test(text, () => {
    const parsed = parseDatabaseUrl(text)
    expect<unknown>(parsed?.servers).toEqual(servers)
    expect(parsed?.first).toBe(first)
    expect(parsed?.shown).toBe(shown)
  })
}
test("another scheme is not recognised", () =>
  expect(parseDatabaseUrl("mysql://localhost/x")).toBeUndefined())
