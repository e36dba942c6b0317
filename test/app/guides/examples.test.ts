// The code in the guides runs: verification in four languages against the vectors, the buyer's token, the mock, and
// every line of TypeScript by the compiler.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import vectors from "../../../docs/guides/webhook-vectors.json"
import { errorsGuide } from "../../../src/app/guides/errorsGuide.ts"
import { signTestWebhook, verifyDelivery } from "../../../src/packages/client/verifyWebhook.ts"
import { buildPackages, project, root, run } from "../../packages/installed.ts"

setDefaultTimeout(120_000)

const guideFolder = join(root, "docs/guides")
const guideText = (name: string) =>
  name === "errors.md" ? errorsGuide : readFileSync(join(guideFolder, name), "utf8")
const blocksOf = (name: string, language: string) =>
  [...guideText(name).matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, code = ""]) => code
  )
const only = (name: string, language: string): string => {
  const [block, ...others] = blocksOf(name, language)
  if (block === undefined || others.length > 0) throw new Error(`${name} has not one block of ${language}`)
  return block
}

const directory = mkdtempSync(join(tmpdir(), "quittance-guides-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const file = (path: string, text: string) => {
  mkdirSync(join(directory, path, ".."), { recursive: true })
  writeFileSync(join(directory, path), text)
  return join(directory, path)
}

/** The expected result of each vector: the order, null for none, or "refused". */
const expected = vectors.map(({ verifies, order }) =>
  verifies ? (order === null ? null : [order.paymentId, order.intentUrl]) : "refused"
)

describe("webhooks.md", () => {
  const vectorFile = join(guideFolder, "webhook-vectors.json")

  test("TypeScript: the client returns the expected result of every vector", async () => {
    const judged = await Promise.all(
      vectors.map(({ body, headers, secret, now }) =>
        verifyDelivery(body, headers, secret, { now }).then(
          ({ order }) => (order === null ? null : [order.paymentId, order.intentUrl]),
          () => "refused"
        )
      )
    )
    expect<unknown>(judged).toEqual(expected)
  })

  const judge = (program: string, ...args: ReadonlyArray<string>) => {
    const { exitCode, output } = run([program, ...args, vectorFile], directory)
    if (exitCode !== 0) throw new Error(output)
    expect(JSON.parse(output)).toEqual(expected)
  }
  const languages: Readonly<Record<string, readonly [program: string, judges: () => void]>> = {
    Python: [
      "python3",
      () =>
        judge(
          "python3",
          file(
            "judge.py",
            `${blocksOf("webhooks.md", "python")[0]}
import sys
def judged(v):
    try:
        event, order = verify_delivery(v["body"].encode(), v["headers"], v["secret"], v["now"])
        assert event == json.loads(v["body"])
        return order
    except WebhookRefused:
        return "refused"
print(json.dumps([judged(v) for v in json.load(open(sys.argv[1]))]))`
          )
        )
    ],
    PHP: [
      "php",
      () =>
        judge(
          "php",
          file(
            "judge.php",
            `${only("webhooks.md", "php")}
echo json_encode(array_map(function ($v) {
    try {
        $order = verify_delivery($v['body'], $v['headers'], $v['secret'], $v['now'])['order'];
        return $order === null ? null : array_values($order);
    } catch (RuntimeException) {
        return 'refused';
    }
}, json_decode(file_get_contents($argv[1]), true)));`
          )
        )
    ],
    Go: [
      "go",
      () => {
        file("go/go.mod", "module judge\n\ngo 1.19\n")
        file("go/quittance/verify.go", only("webhooks.md", "go"))
        file(
          "go/main.go",
          `package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"judge/quittance"
)

func main() {
	text, _ := os.ReadFile(os.Args[1])
	var vectors []struct {
		Body, Secret string
		Headers      map[string]string
		Now          int64
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		panic(err)
	}
	judged := []any{}
	for _, v := range vectors {
		headers := http.Header{}
		for name, value := range v.Headers {
			headers.Set(name, value)
		}
		order, err := quittance.VerifyDelivery([]byte(v.Body), headers, v.Secret, time.Unix(v.Now, 0))
		switch {
		case err != nil:
			judged = append(judged, "refused")
		case order == nil:
			judged = append(judged, nil)
		default:
			judged = append(judged, []string{order.PaymentID, order.IntentURL})
		}
	}
	out, _ := json.Marshal(judged)
	fmt.Println(string(out))
}
`
        )
        const env = { ...process.env, GOCACHE: join(directory, "gocache"), GOFLAGS: "-mod=mod" }
        const binary = join(directory, "judge")
        expect(run(["go", "build", "-o", binary, "."], join(directory, "go"), env)).toMatchObject({
          exitCode: 0
        })
        judge(binary)
      }
    ]
  }
  for (const [language, [program, judges]] of Object.entries(languages)) {
    const missing = Bun.which(program) === null
    test.skipIf(missing)(
      `${language} returns each vector's expected result${missing ? `: ${program} is not installed` : ""}`,
      judges
    )
  }

  const noPython = Bun.which("python3") === null
  test.skipIf(noPython)(
    `the Python endpoint ships a paid order once, looks up a URL that no header holds, and refuses another secret${noPython ? ": python3 is not installed" : ""}`,
    async () => {
      const [verify = "", endpoint = ""] = blocksOf("webhooks.md", "python")
      file("python/verify.py", verify)
      file("python/endpoint.py", endpoint)
      const secret = "whsec_c2VjcmV0IG9mIHRoZSBQeXRob24gZW5kcG9pbnQ="
      using api = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        fetch: ({ headers, url }) =>
          Response.json({
            payment: { intentUrl: `${new URL(url).pathname} ${headers.get("authorization")}` }
          })
      })
      const child = Bun.spawn(["python3", "endpoint.py"], {
        cwd: join(directory, "python"),
        env: {
          ...process.env,
          QUITTANCE_URL: api.url.origin,
          QUITTANCE_KEY: "sk_test_key",
          WEBHOOK_SECRET: secret,
          PORT: "0"
        },
        stdout: "pipe",
        stderr: "ignore"
      })
      const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
      let printed = ""
      const line = async (): Promise<string> => {
        while (!printed.includes("\n")) printed += (await output.read()).value ?? "\n"
        const end = printed.indexOf("\n")
        const first = printed.slice(0, end)
        printed = printed.slice(end + 1)
        return first
      }
      try {
        const url = await line()
        const send = async (id: string, key: string, order?: { paymentId: string; intentUrl: string }) => {
          const { body, headers } = await signTestWebhook(
            {
              id,
              type: "payment.settled",
              livemode: false,
              transactionId: `0x${"ab".repeat(32)}`,
              tokenChanges: []
            },
            key,
            order === undefined ? {} : { order }
          )
          return (await fetch(url, { method: "POST", headers, body })).status
        }
        const order = { paymentId: "payment", intentUrl: "https://shop.example.com/orders/1042" }
        expect(await send("event-1", "another secret", order)).toBe(400)
        expect(await send("event-1", secret, order)).toBe(204)
        expect(await send("event-1", secret, order)).toBe(204)
        expect(await line()).toBe(`${order.intentUrl} is paid: ship it.`)
        expect(await send("event-2", secret)).toBe(204)
        expect(await line()).toBe("/api/v1/events/event-2 Bearer sk_test_key is paid: ship it.")
      } finally {
        child.kill()
        await child.exited
      }
    }
  )
})

describe("TypeScript and JavaScript of the guides", () => {
  const names = [...readdirSync(guideFolder).filter((one) => one.endsWith(".md")), "errors.md"]

  beforeAll(() => {
    buildPackages()
    project(join(directory, "shop"), ["client", "checkout"], {})
    // Packages that a guide installs from a registry; here the repository's own copies are compiled against.
    for (const name of ["express", "@types", "@x402"])
      symlinkSync(join(root, "node_modules", name), join(directory, "shop/node_modules", name))
  })

  test("every TypeScript block passes tsc --strict against the packages", () => {
    const files = names.flatMap((name) =>
      blocksOf(name, "ts").map((code, index) => {
        const path = `shop/${name.replace(".md", "")}-${index}.mts`
        file(
          path,
          `declare const process: { readonly env: Readonly<Record<string, string | undefined>> }\n${code}`
        )
        return path.replace("shop/", "")
      })
    )
    expect(files.length).toBeGreaterThan(3)
    const flags =
      "--ignoreConfig --noEmit --strict --module nodenext --target es2022 --lib es2023,dom,dom.iterable --types"
    const tsc = (checked: ReadonlyArray<string>, ...more: ReadonlyArray<string>) =>
      run(
        [join(root, "node_modules/.bin/tsc"), ...flags.split(" "), "", ...more, ...checked],
        join(directory, "shop")
      )
    // The types of @x402 need those of Node.
    const ofOthers = files.filter((path) => path.startsWith("agents"))
    expect(tsc(ofOthers, "--skipLibCheck")).toEqual({ exitCode: 0, output: "" })
    expect(tsc(files.filter((path) => !ofOthers.includes(path)))).toEqual({ exitCode: 0, output: "" })
  })

  test("testing.md: the mock settles, and its delivery verifies", () => {
    file("shop/mock.mjs", only("testing.md", "js"))
    expect(run(["node", "mock.mjs"], join(directory, "shop")).output).toBe("true\n")
  })

  test("buyer-token.md: the code prints the token shown next to it", () => {
    const vector = /^It prints:\n\n```\n([^`]+)```$/m.exec(guideText("buyer-token.md"))?.[1]
    const path = join(root, "test/app/guides/.buyerToken.mjs")
    writeFileSync(path, only("buyer-token.md", "js"))
    try {
      expect(vector).toBe(run([process.execPath, path], root).output)
    } finally {
      rmSync(path)
    }
  })
})
