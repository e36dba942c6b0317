// nginx as proxy.md configures it, with ModSecurity and OWASP's Core Rule Set if a test wants them.
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { temporaryDirectory } from "./process.ts"

const program = "/usr/sbin/nginx"
const module = "/usr/share/nginx/modules-available/mod-http-modsecurity.conf"
const settings = "/etc/nginx/modsecurity.conf"
const setup = "/etc/modsecurity/crs/crs-setup.conf"
const rules = "/usr/share/modsecurity-crs/rules"

/** The parts of Debian's nginx, libnginx-mod-http-modsecurity and modsecurity-crs that this machine lacks. */
export const missingNginx = [program, module, settings, setup, rules].find((path) => !existsSync(path))

const document = readFileSync(join(import.meta.dir, "../../docs/proxy.md"), "utf8")
const blocks = [...document.matchAll(/^```\w*\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => text)
const linesOf = (beginning: string) =>
  blocks
    .flatMap((text) => text.split("\n"))
    .filter((line) => line.startsWith(beginning))
    .join("\n")

/** A block in braces, such as `upstream quittance { … }`. */
const sectionOf = (beginning: string) =>
  blocks.map((text) => new RegExp(`^${beginning}[^]*?^}`, "m").exec(text)?.[0] ?? "").join("")

/** The page's exclusions: level 2's replace the rules of the first block. */
const exclusionsAt = (paranoiaLevel: number) => {
  const [first = "", second = ""] = blocks.filter((text) => /^SecRule /m.test(text))
  return paranoiaLevel === 1 ? first : `${linesOf("SecAction ")}\n${second}`
}

const modSecurityAt = (paranoiaLevel: number, auditLog: string) =>
  `${readFileSync(settings, "utf8").replace("unicode.mapping", "/etc/nginx/unicode.mapping")}
SecRuleEngine On
SecAuditLog ${auditLog}
SecAuditLogFormat JSON
Include ${setup}
SecAction "id:900000,phase:1,nolog,pass,t:none,setvar:tx.paranoia_level=${paranoiaLevel}"
${exclusionsAt(paranoiaLevel)}
Include ${rules}/*.conf
`

/** Rules that block by the score of the others. */
const blocking = new Set(["949110", "959100"])

interface AuditMessage {
  readonly message: string
  readonly details: { readonly ruleId: string; readonly match: string; readonly data: string }
}

/** A line of the audit log as the request and its matching rules, if they blocked it. */
const blockedIn = (line: string): ReadonlyArray<string> => {
  const { request, messages } = JSON.parse(line).transaction
  const matched: ReadonlyArray<AuditMessage> = messages
  if (!matched.some(({ details }) => blocking.has(details.ruleId))) return []
  const reasons = matched.map(
    ({ message, details }) => `${details.ruleId} ${message}: ${details.data || details.match}`
  )
  return [[`${request.method} ${request.uri}`, ...reasons].join("\n  ")]
}

/** Starts nginx in front of the service at `upstream`, and waits until it answers; it ends with the scope. */
export const nginxBefore = Effect.fnUntraced(function* (
  port: number,
  upstream: number,
  /** If absent, ModSecurity is off. */
  paranoiaLevel?: number
) {
  const directory = yield* temporaryDirectory
  const write = (name: string, text: string) => {
    const path = join(directory, name)
    writeFileSync(path, text)
    return path
  }
  const auditLog = write("audit.log", "")
  const modSecurity =
    paranoiaLevel === undefined
      ? ""
      : `modsecurity on; modsecurity_rules_file ${write("rules.conf", modSecurityAt(paranoiaLevel, auditLog))};`
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${directory}/${name};`
  )
  const configuration = write(
    "nginx.conf",
    `${process.getuid?.() === 0 ? "user root;" : ""}
daemon off;
worker_processes 1;
pid ${directory}/pid;
error_log ${directory}/error.log;
include ${module};
events {}
http {
  access_log off;
  ${paths.join("\n  ")}
  ${sectionOf("upstream ").replace(/10\.0\.0\.\d:8787/g, `127.0.0.1:${upstream}`)}
  server {
    listen 127.0.0.1:${port};
    ${modSecurity}
    ${sectionOf("location ")}
  }
}
`
  )
  yield* Effect.acquireRelease(
    Effect.sync(() => Bun.spawn([program, "-c", configuration], { stdout: "ignore", stderr: "ignore" })),
    (running) =>
      Effect.promise(async () => {
        running.kill("SIGTERM")
        await running.exited
      })
  )
  const baseUrl = `http://localhost:${port}`
  yield* Effect.promise(async () => {
    const end = Date.now() + 20_000
    while ((await fetch(`${baseUrl}/healthz`).catch(() => undefined)) === undefined) {
      if (Date.now() > end)
        throw new Error(`nginx does not start: ${readFileSync(`${directory}/error.log`, "utf8")}`)
      await Bun.sleep(20)
    }
  })
  return {
    baseUrl,
    /** Each blocked request, with the rules that it matched. */
    blocked: () =>
      readFileSync(auditLog, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .flatMap(blockedIn)
  }
})
