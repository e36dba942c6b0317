// Start-up warnings about settings that work but reduce security, and about parameters without effect.
import { Option, Redacted } from "effect"
import type { AppConfig } from "../AppConfig.ts"
import { isLoopback } from "../http/isLoopback.ts"
import { reachableFrom } from "../http/reachableFrom.ts"
import { judgeParameters, parameterRules } from "./urlParameters.ts"

const exposureWarnings = (
  config: Pick<typeof AppConfig.Service, "baseUrl" | "environment" | "host">
): ReadonlyArray<string> => {
  const { baseUrl, environment } = config
  if (environment === "development") {
    const reachable = reachableFrom(config)
    return reachable === undefined
      ? []
      : [
          `ENVIRONMENT is development, and this service can be reached at ${reachable}: anyone may sign up, and secrets are stored in DATA_DIR. Set ENVIRONMENT=production, or HOST=127.0.0.1.`
        ]
  }
  const { hostname, protocol } = new URL(baseUrl)
  return protocol === "https:" || isLoopback(hostname)
    ? []
    : [
        `BASE_URL is ${baseUrl}: without TLS the dashboard's cookies are not Secure, HSTS is not sent, and anyone on the network path can read passwords and keys. Put a proxy with TLS before the service and set BASE_URL to its https:// origin.`
      ]
}

/** Warns that limits in memory are separate for each process. */
const unsharedLimits = ({
  redisUrl,
  processSlot
}: Pick<typeof AppConfig.Service, "redisUrl" | "processSlot">): ReadonlyArray<string> =>
  Option.match(processSlot, {
    onNone: () => [],
    onSome: ({ of }) =>
      Option.isSome(redisUrl)
        ? []
        : [
            `${of} processes serve the port, and REDIS_URL is unset: each counts requests by itself, so a client whose connections go to all of them may send up to ${of} times what RATE_LIMIT_PER_KEY and the other request limits say. Set REDIS_URL to count requests together.`
          ]
  })

type Addresses = Pick<typeof AppConfig.Service, "database" | "redisUrl" | "replicaUrl" | "smtp">

const ignoredParameters = ({ database, redisUrl, replicaUrl, smtp }: Addresses): ReadonlyArray<string> => {
  const own = database._tag === "Postgres" ? Option.some(database.url) : Option.none()
  return (
    [
      ["DATABASE_URL", own, parameterRules.postgres],
      ["DATABASE_REPLICA_URL", replicaUrl, parameterRules.postgres],
      ["REDIS_URL", redisUrl, parameterRules.redis],
      ["SMTP_URL", Option.map(smtp, ({ url }) => url), parameterRules.mail]
    ] as const
  ).flatMap(([variable, url, rules]) => {
    if (Option.isNone(url)) return []
    const { withoutEffect } = judgeParameters(variable, Redacted.value(url.value), rules)
    return withoutEffect.length === 0
      ? []
      : [`${variable} has parameters without effect on this service: ${withoutEffect.join(", ")}.`]
  })
}

export const startWarnings = (
  config: Pick<typeof AppConfig.Service, "baseUrl" | "environment" | "host" | "processSlot"> & Addresses
): ReadonlyArray<string> => [
  ...exposureWarnings(config),
  ...unsharedLimits(config),
  ...ignoredParameters(config)
]
