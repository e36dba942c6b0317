// Certificates made by openssl for one test run: a test CA, and servers that are right or wrong in one way. `undefined`
// if the machine has no openssl; tests then say that they are skipped.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface KeyPair {
  readonly key: string
  readonly cert: string
}

export interface Certificates {
  /** The test CA's PEM. */
  readonly authority: string
  /** A certificate of the test CA for these names; `days` may be negative. */
  readonly issue: (names: ReadonlyArray<string>, days?: number) => KeyPair
  /** Self-signed. */
  readonly selfSigned: (name: string) => KeyPair
  readonly remove: () => void
}

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

/** Creates a CA in a temporary directory. */
export const makeCertificates = (): Certificates | undefined => {
  if (Bun.which("openssl") === null) return undefined
  const directory = mkdtempSync(join(tmpdir(), "test-certificates-"))
  const path = (name: string): string => join(directory, name)
  const openssl = (...args: ReadonlyArray<string>): void => {
    const { exitCode, stderr } = Bun.spawnSync(["openssl", ...args], { cwd: directory })
    if (exitCode !== 0) throw new Error(`openssl ${args[0]}: ${stderr.toString()}`)
  }
  const pair = (name: string): KeyPair => ({
    key: readFileSync(path(`${name}.key`), "utf8"),
    cert: readFileSync(path(`${name}.pem`), "utf8")
  })
  const selfSign = (file: string, subject: string, extension: string): void =>
    openssl(
      ...["req", "-x509", ...newKey, "-keyout", `${file}.key`, "-out", `${file}.pem`],
      ...["-days", "30", "-subj", `/CN=${subject}`, "-addext", extension]
    )
  let count = 0

  selfSign("ca", "Test CA", "keyUsage=critical,keyCertSign,cRLSign")
  return {
    authority: pair("ca").cert,
    issue: (names, days = 30) => {
      const file = `leaf${count++}`
      writeFileSync(path(`${file}.ext`), `subjectAltName=${names.map((name) => `DNS:${name}`).join(",")}\n`)
      openssl("req", ...newKey, "-keyout", `${file}.key`, "-out", `${file}.csr`, "-subj", "/CN=receiver")
      openssl(
        ...["x509", "-req", "-in", `${file}.csr`, "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"],
        ...["-days", String(days), "-extfile", `${file}.ext`, "-out", `${file}.pem`]
      )
      return pair(file)
    },
    selfSigned: (name) => {
      const file = `self${count++}`
      selfSign(file, name, `subjectAltName=DNS:${name}`)
      return pair(file)
    },
    remove: () => rmSync(directory, { recursive: true, force: true })
  }
}
