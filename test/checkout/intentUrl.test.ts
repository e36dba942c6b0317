// The addresses to which /pay may send a buyer back.
import { describe, expect, test } from "bun:test"
import { followableUrl } from "../../src/checkout/pages/followableUrl.ts"

describe("The way back to the shop", () => {
  for (const url of [
    "https://shop.example.com/orders/1?a=b",
    "http://localhost:3000/x",
    "http://127.0.0.1/"
  ]) {
    test(`follows ${url}`, () => expect(followableUrl(url)?.href).toBe(url))
  }
  for (const url of [
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,x",
    "blob:https://a/1",
    "file:///etc/passwd",
    "http://shop.example.com/",
    "http://localhost.example.com/",
    "https://user:secret@shop.example.com/",
    "//shop.example.com/",
    "/orders",
    ""
  ]) {
    test(`does not follow ${JSON.stringify(url)}`, () => expect(followableUrl(url)).toBeUndefined())
  }
})
