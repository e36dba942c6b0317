// The addresses at which a development service for one machine can be reached.
import { networkInterfaces } from "node:os"
import ipaddr from "ipaddr.js"
import type { AppConfig } from "../AppConfig.ts"
import { isLoopback } from "./isLoopback.ts"

const isPublic = (address: string) => ipaddr.process(address).range() === "unicast"

/** Addresses at which this machine listens; all of its own if the host is unspecified. */
const listening = (host: string): ReadonlyArray<string> =>
  host === "0.0.0.0" || host === "::"
    ? Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address))
    : ipaddr.isValid(host)
      ? [host]
      : []

/** The public address at which anyone can reach the service, if there is one. */
export const reachableFrom = ({
  baseUrl,
  host
}: Pick<typeof AppConfig.Service, "baseUrl" | "host">): string | undefined => {
  if (!isLoopback(URL.parse(baseUrl)?.hostname ?? "")) return baseUrl
  return listening(host).find((address) => isPublic(address.replace(/%.*$/, "")))
}
