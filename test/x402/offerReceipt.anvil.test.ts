// Signed offers and receipts of the extension `offer-receipt`, read by the reference's own library.

import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { decodePaymentRequiredHeader } from "@x402/core/http"
import { ExactEvmScheme } from "@x402/evm"
import {
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  isJWSSignedOffer,
  isJWSSignedReceipt,
  verifyOfferSignatureJWS,
  verifyReceiptSignatureJWS
} from "@x402/extensions/offer-receipt"
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch"
import { moneyNetwork } from "../support/moneyNetwork.ts"
import { headerOf, openPayment, payPath } from "./payloads.ts"
import { receiver, x402World } from "./x402World.ts"

setDefaultTimeout(150_000)

const world = await x402World()

describe("offers and receipts", () => {
  const addressOf = (id: string) => `${world.baseUrl}/api/v1${payPath(world, id)}`

  test("a 402 contains an offer whose key is in the service's DID document", async () => {
    const url = addressOf(await openPayment(world, "0.25"))
    const asked = await fetch(url)
    expect(asked.status).toBe(402)
    const required = decodePaymentRequiredHeader(asked.headers.get("payment-required") ?? "")
    const [offer] = extractOffersFromPaymentRequired(required)
    if (offer === undefined || !isJWSSignedOffer(offer)) throw new Error("no offer")
    expect(await verifyOfferSignatureJWS(offer)).toMatchObject({
      version: 1,
      resourceUrl: url,
      scheme: "exact",
      network: moneyNetwork.x402[2],
      payTo: receiver,
      amount: "250000"
    })
  })

  test("a client that asks for one gets a receipt of the settlement, the same each time", async () => {
    const url = addressOf(await openPayment(world, "0.25"))
    const account = await world.payer()
    const sent: Array<Headers> = []
    const remembering = (input: RequestInfo | URL, init?: RequestInit) => {
      const request = new Request(input, init)
      sent.push(request.headers)
      return fetch(request)
    }
    const paid = wrapFetchWithPaymentFromConfig(remembering as typeof fetch, {
      schemes: [{ network: "eip155:*", client: new ExactEvmScheme(account) }]
    })
    const response = await paid(url)
    expect(response.status).toBe(200)
    const { payment } = await response.json()
    const receipt = extractReceiptFromResponse(response)
    if (receipt === undefined || !isJWSSignedReceipt(receipt)) throw new Error("no receipt")
    expect(await verifyReceiptSignatureJWS(receipt)).toEqual({
      version: 1,
      network: moneyNetwork.x402[2],
      resourceUrl: url,
      payer: account.address,
      issuedAt: Math.floor(Date.parse(payment.settledAt) / 1000),
      transaction: payment.reportedTransactionId
    })

    const again = extractReceiptFromResponse(await fetch(url, { headers: sent.at(-1) ?? {} }))
    if (again === undefined || !isJWSSignedReceipt(again)) throw new Error("no receipt")
    expect(await verifyReceiptSignatureJWS(again)).toEqual(await verifyReceiptSignatureJWS(receipt))

    const forged = `${receipt.signature.slice(0, -4)}AAAA`
    expect(verifyReceiptSignatureJWS({ format: "jws", signature: forged })).rejects.toThrow()
  })

  test("a client that does not ask gets none", async () => {
    const id = await openPayment(world, "0.25")
    const payload = await world.authorize(await world.payer(), 250_000n)
    const response = await fetch(addressOf(id), { headers: headerOf(payload) })
    expect(response.status).toBe(200)
    expect(extractReceiptFromResponse(response)).toBeUndefined()
  })
})
