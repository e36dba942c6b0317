// The parameters after `?` in the URLs of database, Redis and mail server. Each is applied, known to have no effect,
// or prevents the service from starting: a security parameter is never silently ignored.

export interface Parameters {
  /** The reasons why the service does not start, in sentences. They name a parameter and never show a value. */
  readonly refused: ReadonlyArray<string>
  /** Parameters that are accepted and change nothing. */
  readonly withoutEffect: ReadonlyArray<string>
}

/** `instead`: what to write instead. */
type Verdict = "obeyed" | "without effect" | { readonly instead: string }

type Rule = (value: string, all: URLSearchParams, scheme: string) => Verdict

const obeyed: Rule = () => "obeyed"
const withoutEffect: Rule = () => "without effect"
const instead =
  (text: string): Rule =>
  () => ({ instead: text })
/** These values change nothing; any other value has an effect. */
const harmlessAs =
  (harmless: RegExp, text: string): Rule =>
  (value) =>
    harmless.test(value) ? "without effect" : { instead: text }
const every = (names: string, rule: Rule): Record<string, Rule> =>
  Object.fromEntries(names.split(" ").map((name) => [name, rule]))

const yes = /^(true|1|on|yes|require|required|verify-ca|verify-full)$/
const no = /^(false|0|off|no|disable)$/
const encrypted = /^(require|verify-ca|verify-full)$/

const requireTls = "Write sslmode=require, which encrypts every session and checks the server's certificate"
const ownAuthority =
  "Write sslmode=require, and set NODE_EXTRA_CA_CERTS to the file of the authority's certificate"
const noClientCertificate = "Remove it, and sign in with a password: client certificates are not supported"

/** True if the other parameters make sessions encrypted and certificates checked. */
const isEncrypted = (all: URLSearchParams) =>
  encrypted.test(all.get("sslmode") ?? "") ||
  (!all.has("sslmode") && (yes.test(all.get("ssl") ?? "") || all.get("sslrootcert") === "system"))

/** Satisfied by an encrypted session whose certificate is checked. */
const satisfiedByTls =
  (values: RegExp, text = requireTls): Rule =>
  (value, all) =>
    values.test(value) && isEncrypted(all) ? "obeyed" : { instead: text }

const postgres: Readonly<Record<string, Rule>> = {
  ...every("host port user password dbname options target_session_attrs", obeyed),
  sslmode: (value) =>
    /^(disable|allow|prefer|require|verify-ca|verify-full)$/.test(value)
      ? "obeyed"
      : {
          instead:
            "Write sslmode=require: encrypted, and the certificate is always checked. For an authority of your own set NODE_EXTRA_CA_CERTS"
        },
  // The spellings of other clients: node-postgres, postgres.js, JDBC, Heroku.
  ssl: (value, all) => {
    if (no.test(value) && !isEncrypted(all)) return "obeyed"
    return yes.test(value) && isEncrypted(all) ? "obeyed" : { instead: requireTls }
  },
  sslrootcert: satisfiedByTls(/^system$/, ownAuthority),
  sslaccept: (value, all) =>
    /^accept_invalid_certs$/.test(value) || isEncrypted(all) ? "without effect" : { instead: requireTls },
  ssl_min_protocol_version: satisfiedByTls(
    /^TLSv1(\.[012])?$/,
    "TLSv1.2 is the least with sslmode=require; to ask for more, set ssl_min_protocol_version on the server"
  ),
  ssl_max_protocol_version: instead("Remove it, and set ssl_max_protocol_version on the server"),
  channel_binding: harmlessAs(
    /^(disable|prefer)$/,
    "Write only sslmode=require: the server's certificate and name are checked, and channel binding is not supported"
  ),
  sslnegotiation: harmlessAs(/^postgres$/, requireTls),
  sslcertmode: harmlessAs(/^(disable|allow)$/, noClientCertificate),
  gssencmode: harmlessAs(/^(disable|prefer)$/, requireTls),
  require_auth: instead("Remove it, and ask for scram-sha-256 in the server's pg_hba.conf"),
  requirepeer: instead("Remove it, and let only the server's user write the directory of the socket"),
  ...every("sslcert sslkey sslpassword sslidentity", instead(noClientCertificate)),
  ...every("sslcrl sslcrldir", instead("Remove it: revocation lists are not supported")),
  ...every("sslca ca sslrootca", instead(ownAuthority)),
  ...every(
    "schema currentSchema search_path",
    harmlessAs(/^public$/, "Write options=-c%20search_path%3DNAME")
  ),
  client_encoding: harmlessAs(/^(utf-?8|auto)$/i, "Remove it: sessions speak UTF8"),
  ...every(
    "application_name fallback_application_name ApplicationName connect_timeout connectTimeout loginTimeout " +
      "keepalives keepalives_idle keepalives_interval keepalives_count tcp_user_timeout tcpKeepAlive " +
      "sslcompression sslsni load_balance_hosts gssdelegation uselibpqcompat " +
      "pgbouncer connection_limit pool_timeout pool_size pool_mode pool_max_conns max_connections pool poolSize " +
      "socket_timeout socketTimeout query_timeout statement_timeout lock_timeout idle_in_transaction_session_timeout " +
      "statement_cache_size prepare prepared_statements prepareThreshold supa workaround",
    withoutEffect
  )
}

const redisTls = "Write rediss:// instead of redis://, and leave it out"
const overRediss =
  (asks: RegExp): Rule =>
  (value, _, scheme) =>
    scheme === "rediss" || !asks.test(value) ? "without effect" : { instead: redisTls }

const redis: Readonly<Record<string, Rule>> = {
  ...every("ssl tls", (value, all, scheme) =>
    scheme === "rediss" && !yes.test(value)
      ? { instead: "Write redis:// for a connection without TLS, or leave it out" }
      : overRediss(yes)(value, all, scheme)
  ),
  ssl_cert_reqs: overRediss(/^(cert_)?required$/i),
  ssl_check_hostname: overRediss(yes),
  ssl_min_version: overRediss(/./),
  ...every(
    "ssl_ca_certs ssl_ca_path ssl_ca_data",
    instead("Write rediss://, and set NODE_EXTRA_CA_CERTS to the file of the authority's certificate")
  ),
  ...every("ssl_certfile ssl_keyfile", instead(noClientCertificate)),
  ...every("db database", instead("Write the number of the database as the path, redis://host:6379/NUMBER")),
  ...every("user username password", instead("Write redis://user:password@host:6379")),
  ...every(
    "protocol client_name family timeout socket_timeout connect_timeout socket_connect_timeout max_connections " +
      "pool_size health_check_interval retry_on_timeout decode_responses",
    withoutEffect
  )
}

const mailTls =
  "Write smtps:// for TLS from the start, or smtp:// with requireTLS=true, which sends nothing without STARTTLS"

const mail: Readonly<Record<string, Rule>> = {
  ...every(
    "name requireTLS ignoreTLS opportunisticTLS authMethod localAddress maxConnections maxMessages rateLimit rateDelta " +
      "tls.rejectUnauthorized tls.servername tls.minVersion tls.maxVersion tls.ciphers",
    obeyed
  ),
  ...every(
    "secure ssl tls starttls startTLS start_tls STARTTLS requiretls requireTls require_tls encryption security",
    (value, _, scheme) =>
      scheme === "smtps" || /^(false|0|off|no|none|disable)$/.test(value)
        ? "without effect"
        : { instead: mailTls }
  ),
  ...every(
    "tls.ca tls.cert tls.key",
    instead("Set NODE_EXTRA_CA_CERTS to the file of the authority's certificate, and leave it out")
  ),
  ...every(
    "rejectUnauthorized verify verify_peer tls.reject_unauthorized tls.rejectunauthorized",
    instead("Write tls.rejectUnauthorized=false if the certificate must not be checked, or leave it out")
  ),
  ...every("user username pass password", instead("Write smtp://user:password@host:587")),
  ...every(
    "pool connectionTimeout greetingTimeout socketTimeout timeout logger debug transactionLog",
    withoutEffect
  )
}

export const parameterRules = { postgres, redis, mail } as const

/** The parameter's name, unless it could be part of a password. */
const shown = (name: string) =>
  /^[A-Za-z][A-Za-z_.-]{0,40}$/.test(name) ? `the parameter ${name}` : "a parameter"

/** A question mark before `@` belongs to the password. */
const address = /^([a-z]+):\/\/(?:[^@/]*@)?[^?]*(\?.*)?$/

/** The refusal if libpq's PGSSLMODE asks for encryption and the URL does not: this service reads the URL alone. */
export const unreadSslMode = (variable: string, url: string, sslMode = ""): string | undefined => {
  const [, , query] = address.exec(url) ?? []
  const all = new URLSearchParams(query)
  return /^(disable|allow|prefer)?$/.test(sslMode) || all.has("sslmode") || isEncrypted(all)
    ? undefined
    : `PGSSLMODE has no effect on this service. Add ?sslmode=require to ${variable}, which encrypts every session and checks the server's certificate, or unset PGSSLMODE`
}

/** Judges the parameters in the value of `variable`. */
export const judgeParameters = (
  variable: string,
  url: string,
  rules: Readonly<Record<string, Rule>>
): Parameters => {
  const [, scheme = "", query] = address.exec(url) ?? []
  const all = new URLSearchParams(query)
  const judged = [...new Set(all.keys())].map((name): readonly [string, Verdict] => {
    if (all.getAll(name).length > 1) return [name, { instead: "Write it once" }]
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    return [
      name,
      rule?.(all.get(name) ?? "", all, scheme) ?? {
        instead: "It is unknown: remove it, or correct its name"
      }
    ]
  })
  return {
    refused: judged.flatMap(([name, verdict]) =>
      typeof verdict === "string"
        ? []
        : [`${variable} has ${shown(name)}, which this service does not support. ${verdict.instead}.`]
    ),
    withoutEffect: judged.flatMap(([name, verdict]) => (verdict === "without effect" ? [name] : []))
  }
}

/** A database URL's parameters as its client reads them: unknown parameters are dropped. */
export const clientParameters = (all: URLSearchParams): URLSearchParams => {
  const read = new URLSearchParams()
  for (const name of ["user", "password", "dbname", "options", "sslmode"]) {
    const value = all.get(name)
    if (value !== null) read.set(name, value)
  }
  if (isEncrypted(all) && !read.has("sslmode")) read.set("sslmode", "require")
  return read
}
