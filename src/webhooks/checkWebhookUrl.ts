// Rejects URLs that webhooks are not sent to, with advice for the merchant.
import { Effect } from "effect"
import { InvalidWebhookUrl } from "../domain/Errors.ts"
import { checkEgressUrl, type EgressUrlOptions, type EgressUrlReason } from "../platform/egress/EgressUrl.ts"

export const webhookUrlAdvice: { readonly [R in EgressUrlReason]: string } = {
  not_a_url:
    "Send one absolute URL such as https://shop.example.com/webhooks, without spaces or backslashes.",
  scheme: "Use https: the service sends only encrypted webhooks.",
  credentials:
    "Remove the user name and password from the URL, and verify the signature instead: it proves the sender.",
  fragment: "Remove the # and all after it: a fragment never reaches a server.",
  too_long: "Shorten the URL to at most 2048 characters.",
  ip_address: "Use a host name instead of the IP address: the certificate is checked for the name.",
  port: "Use port 443, or 1024 and above.",
  hostname: "Use the public host name of your endpoint, such as shop.example.com.",
  own_host: "Use your own server's host name: this one is the payment service itself."
}

/** Fails for a URL that webhooks are not sent to; the error's message tells the merchant what to do. */
export const checkWebhookUrl = (url: string, options: EgressUrlOptions) =>
  Effect.mapError(
    Effect.fromResult(checkEgressUrl(url, options)),
    (reason) => new InvalidWebhookUrl({ reason, message: webhookUrlAdvice[reason] })
  )
