// Inputs at the limits of the contract, valid and invalid.

/** Amounts as sent and as shown. */
export const goodAmounts: ReadonlyArray<readonly [string, string]> = [
  ["10", "10.00"],
  ["10.5", "10.50"],
  ["10.50", "10.50"],
  ["0.01", "0.01"],
  ["0.000001", "0.000001"],
  ["0.100000", "0.10"],
  ["0.123456", "0.123456"],
  ["1.230000", "1.23"],
  ["00000000000001", "1.00"],
  ["99999999999999", "99999999999999.00"],
  ["99999999999999.999999", "99999999999999.999999"]
]

export const badAmounts: ReadonlyArray<unknown> = [
  "0",
  "0.00",
  "0.000000",
  "1e2",
  "+1",
  "-1",
  "-0",
  " 1",
  "1 ",
  "1\n",
  "1.",
  ".5",
  "",
  "1,5",
  "1_000",
  "0x10",
  "１",
  "١",
  "1.0000000",
  "100000000000000",
  "123456789012345.1",
  "NaN",
  "Infinity",
  "1.5.5",
  "1\u0000",
  1,
  1.5,
  null,
  true,
  ["1"],
  { amount: "1" }
]

export const goodIntentUrls: ReadonlyArray<string> = [
  "https://shop.example.com/",
  "https://shop.example.com",
  "https://shop.example.com:8443/orders/1?x=1&y=2",
  "https://xn--bcher-kva.example/",
  "https://bücher.example/ä",
  "http://localhost/orders",
  "http://localhost:3000/orders/1",
  `https://shop.example.com/${"a".repeat(2048 - 25)}`
]

export const badIntentUrls: ReadonlyArray<unknown> = [
  "",
  "shop.example.com",
  "/orders/1",
  "//shop.example.com/",
  "http://shop.example.com/",
  "http://localhost.example.com/",
  "ftp://shop.example.com/",
  "javascript:alert(1)",
  "data:text/html,x",
  "file:///etc/passwd",
  "https://user@shop.example.com/",
  "https://user:pw@shop.example.com/",
  "https://@shop.example.com/",
  "https://shop.example.com/#x",
  "https://shop.example.com/#",
  "https:shop.example.com",
  "https:///shop.example.com",
  "https://shop.example.com/ x",
  "https://shop.example.com/\u0000",
  "https://shop.example.com/\ud800",
  "https://shop.example.com/\n",
  "https:\\\\shop.example.com\\",
  "https://",
  `https://shop.example.com/${"a".repeat(2048 - 24)}`,
  1,
  null,
  {}
]

/** Bodies that break the rules of every body, as name, body and code. */
export const badBodies = (
  good: Readonly<Record<string, unknown>>
): ReadonlyArray<readonly [string, unknown, string]> => {
  const [first = ""] = Object.keys(good)
  const { [first]: _, ...missing } = good
  const text = JSON.stringify(good)
  return [
    ["an empty body", "", "INVALID_JSON"],
    ["text that is not JSON", "{", "INVALID_JSON"],
    ["a trailing comma", text.replace(/}$/, ",}"), "INVALID_JSON"],
    ["invalid UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), "INVALID_JSON"],
    ["a byte order mark", `\ufeff${text}`, "INVALID_JSON"],
    ["null", "null", "INVALID_REQUEST"],
    ["a list", "[]", "INVALID_REQUEST"],
    ["a string", '"x"', "INVALID_REQUEST"],
    ["a number", "1", "INVALID_REQUEST"],
    ["an empty object", {}, "INVALID_REQUEST"],
    [`no ${first}`, missing, "INVALID_REQUEST"],
    ["an excess field", { ...good, extra: 1 }, "INVALID_REQUEST"],
    ["a __proto__ field", text.replace(/^{/, '{"__proto__":{"x":1},'), "INVALID_REQUEST"],
    ["a constructor field", { ...good, constructor: 1 }, "INVALID_REQUEST"],
    [`${first} null`, { ...good, [first]: null }, "INVALID_REQUEST"],
    [`${first} a number`, { ...good, [first]: 1 }, "INVALID_REQUEST"],
    ["100,000 levels", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`, "INVALID_REQUEST"],
    ["more than 64 KiB", { ...good, extra: "x".repeat(66_000) }, "PAYLOAD_TOO_LARGE"]
  ]
}
