// Truncated answers in the clients for other languages: never accepted as complete.
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Schema } from "effect"
import { root } from "./installed.ts"

setDefaultTimeout(60_000)

const head = (status: string, framing: string) =>
  `HTTP/1.1 ${status}\r\nconnection: close\r\n${framing}\r\n\r\n`

const answers: Readonly<Record<string, string>> = {
  "/whole": `${head("200 OK", "transfer-encoding: chunked")}6;last=no\r\na,b\r\ne\r\n6\r\nnd,0\r\n\r\n0\r\n\r\n`,
  // As forwarded by a proxy that speaks HTTP/1.0 to the service.
  "/cut": `${head("200 OK", "transfer-encoding: chunked")}6\r\na,b\r\n1\r\n0\r\n\r\n`,
  "/length": `${head("200 OK", "content-length: 1000")}{"pay`,
  "/refused": `${head("503 Service Unavailable", "content-length: 1000")}{"err`,
  "/between": `${head("200 OK", "transfer-encoding: chunked")}6\r\na,b\r\n1\r\n`,
  "/within": `${head("200 OK", "transfer-encoding: chunked")}60\r\na,b\r\n1`,
  "/nonsense": "nonsense\r\n\r\n"
}

const wanted = {
  "/whole": ["a,b\r\nend,0\r\n", 1],
  "/cut": ["NO_ANSWER", 2],
  "/length": ["NO_ANSWER", 2],
  "/refused": ["NO_ANSWER", 2],
  "/between": ["NO_ANSWER", 2],
  "/within": ["NO_ANSWER", 2],
  "/nonsense": ["NO_ANSWER", 2]
}

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))

describe("A truncated answer", () => {
  const directory = mkdtempSync(join(tmpdir(), "quittance-broken-"))
  const asked: Array<string> = []
  const server = createServer((socket) => {
    socket.on("error", () => {})
    socket.once("data", (bytes) => {
      const path = bytes.toString().split(" ")[1] ?? ""
      asked.push(path)
      socket.end(answers[path] ?? "")
    })
  })
  const listening = new Promise<number>((resolve) =>
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve(typeof address === "object" ? (address?.port ?? 0) : 0)
    })
  )
  afterAll(() => {
    server.close()
    rmSync(directory, { recursive: true, force: true })
  })

  /** A program's result for each path, and the number of its requests. */
  const seen = async (...command: ReadonlyArray<string>) => {
    asked.length = 0
    const child = Bun.spawn([...command, `http://127.0.0.1:${await listening}`, ...Object.keys(answers)], {
      cwd: directory,
      env: { PATH: process.env["PATH"] ?? "", HOME: directory, PYTHONDONTWRITEBYTECODE: "1" },
      stderr: "inherit"
    })
    const results = decode(await new Response(child.stdout).text())
    return Object.fromEntries(
      Object.entries(results).map(([path, said]) => [
        path,
        [said, asked.filter((one) => one === path).length]
      ])
    )
  }

  const python = Bun.which("python3")
  const noPython = python === null ? ": Python is not installed" : ""
  test.skipIf(python === null)(`is an error in Python, and requested again${noPython}`, async () => {
    const program = `
import json, sys
sys.path.insert(0, sys.argv[1])
from _transport import QuittanceError, transport
call = transport("key", sys.argv[2], 10, 1)
def said(path):
    try:
        return call("GET", path, raw=True).decode()
    except QuittanceError as error:
        return error.code
print(json.dumps({path: said(path) for path in sys.argv[3:]}))
`
    expect(await seen(python ?? "", "-c", program, join(root, "src/packages/python"))).toEqual(wanted)
  })
  const php = Bun.which("php")
  const noPhp = php === null ? ": PHP is not installed" : ""
  test.skipIf(php === null)(`is an error in PHP, and requested again${noPhp}`, async () => {
    const program = `
[, $sources, $origin] = $argv;
require "$sources/QuittanceException.php";
require "$sources/Transport.php";
$transport = new Quittance\\Transport('key', $origin, 10.0, 1);
$said = [];
foreach (array_slice($argv, 3) as $path) {
    try {
        $said[$path] = $transport->call('GET', $path, raw: true);
    } catch (Quittance\\QuittanceException $error) {
        $said[$path] = $error->errorCode;
    }
}
echo json_encode($said);
`
    expect(await seen(php ?? "", "-r", program, "--", join(root, "src/packages/php"))).toEqual(wanted)
  })
})
