// A wallet that is connected through WalletConnect, as an EIP-1193 provider. It pairs when accounts are first
// requested, and sends the code to scan through the event `display_uri`.

import { SignClient } from "@walletconnect/sign-client"
import { toJson } from "../../platform/pages/browser/json.ts"
import type { Eip1193Provider } from "../component/wallets.ts"

export interface WalletConnectOptions {
  /** The operator's project id, 32 hex digits. */
  readonly projectId: string
  readonly relayUrl: string
  /** The chain of the payments. */
  readonly chainId: number
  /** Serves the calls that need no wallet. */
  readonly rpcUrl: string
  /** Shown by the wallet. */
  readonly page: { readonly name: string; readonly url: string }
}

type Client = Awaited<ReturnType<typeof SignClient.init>>
type Session = ReturnType<Client["session"]["get"]>
type Listener = (value: unknown) => void

/** The methods sent to the wallet; all others are read from the node. */
const walletMethods = [
  "eth_sendTransaction",
  "eth_signTypedData_v4",
  "personal_sign",
  "wallet_getCallsStatus",
  "wallet_getCapabilities",
  "wallet_sendCalls"
]

const signatures = ["eth_signTypedData_v4", "personal_sign"]

/** `eip155:<chain>:<address>` (CAIP-10). */
const addressOf = (account: string) => account.split(":")[2] ?? ""

class ProviderError extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** EIP-1193's code of a disconnected provider. */
const disconnected = 4900
/** WalletConnect's code of a request without a response in time. */
const expired = 8000

/** WalletConnect's refusal codes become EIP-1193's 4001. A signature that fails in any other way moves no money. */
const toProviderError = (method: string, error: unknown): unknown => {
  if (error instanceof ProviderError) return error
  const code: unknown = error instanceof Object ? Reflect.get(error, "code") : undefined
  if (typeof code === "number" && code >= 5000 && code < 5100)
    return new ProviderError(4001, "The wallet declined.")
  return signatures.includes(method) && (typeof code !== "number" || code === expired)
    ? new ProviderError(disconnected, "The wallet did not answer.")
    : error
}

/** The time that the relay may take to respond. A wallet may take as long as its owner. */
const relayMillis = 15_000

const relayed = async <A>(answer: Promise<A>): Promise<A> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new ProviderError(disconnected, "The relay of WalletConnect does not answer.")),
      relayMillis
    )
  })
  // Old libraries replace `Promise` by one without `finally`.
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

export const makeWalletConnectProvider = (options: WalletConnectOptions): Eip1193Provider => {
  const listeners = new Map<string, Set<Listener>>()
  const emit = (event: string, value: unknown) => {
    for (const listener of listeners.get(event) ?? []) listener(value)
  }
  let session: Session | undefined
  let started: Promise<Client> | undefined
  let pairing: Promise<void> | undefined
  /** The code of the pairing that waits for its wallet. */
  let pairingUri: string | undefined
  let calls = 0
  const chain = `eip155:${options.chainId}`

  const accountsOf = (paired: Session | undefined): ReadonlyArray<string> =>
    (paired?.namespaces["eip155"]?.accounts ?? [])
      .filter((account) => account.startsWith(`${chain}:`))
      .map(addressOf)
  const accounts = () => accountsOf(session)

  /** Ends a session. An unreachable wallet forgets it when it expires. */
  const leave = (signClient: Client, ended: Session) =>
    signClient
      .disconnect({ topic: ended.topic, reason: { code: 6000, message: "The page has ended the session." } })
      .catch(() => {})

  const start = async (): Promise<Client> => {
    const client = await SignClient.init({
      projectId: options.projectId,
      relayUrl: options.relayUrl,
      telemetryEnabled: false,
      logger: "silent",
      metadata: { ...options.page, description: options.page.name, icons: [] }
    })
    // Loads no frame of another service: the wallet shows the page's address as unverified.
    client.core.verify.register = () => Promise.resolve("")
    const ended = ({ topic }: { readonly topic: string }) => {
      if (topic !== session?.topic) return
      session = undefined
      emit("accountsChanged", [])
    }
    client.on("session_delete", ended)
    client.on("session_expire", ended)
    client.on("session_update", ({ topic, params }) => {
      if (session === undefined || topic !== session.topic) return
      session = { ...session, namespaces: params.namespaces }
      emit("accountsChanged", accounts())
    })
    client.on("session_event", ({ topic, params: { event } }) => {
      if (topic === session?.topic && event.name === "accountsChanged") emit("accountsChanged", accounts())
    })
    session = client.session.getAll().findLast((stored) => accountsOf(stored).length > 0)
    return client
  }
  const client = (): Promise<Client> => {
    started ??= start().catch((error: unknown) => {
      started = undefined
      throw error
    })
    return started
  }

  const startPairing = async (): Promise<void> => {
    const signClient = await relayed(client())
    const { approval, uri } = await relayed(
      signClient.connect({
        optionalNamespaces: {
          eip155: { chains: [chain], methods: walletMethods, events: ["accountsChanged"] }
        }
      })
    )
    pairingUri = uri
    emit("display_uri", uri)
    const approved = await approval()
    if (accountsOf(approved).length === 0) {
      await leave(signClient, approved)
      throw new ProviderError(4902, `The wallet offers no account on chain ${options.chainId}.`)
    }
    const before = session
    session = approved
    if (before === undefined) return
    emit("accountsChanged", accounts())
    await leave(signClient, before)
  }
  /** Runs one pairing at a time, so the code on the screen is the code that connects. */
  const pair = (): Promise<void> => {
    if (pairingUri !== undefined) emit("display_uri", pairingUri)
    pairing ??= startPairing().finally(() => {
      pairing = undefined
      pairingUri = undefined
    })
    return pairing
  }

  const askNode = async (method: string, params: ReadonlyArray<unknown>): Promise<unknown> => {
    const response = await fetch(options.rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: toJson({ jsonrpc: "2.0", id: ++calls, method, params })
    })
    const answer: unknown = await response.json()
    if (!(answer instanceof Object)) throw new ProviderError(-32603, "The node's answer is not JSON-RPC.")
    if ("error" in answer) throw new ProviderError(-32603, `${method} failed at the node.`)
    return Reflect.get(answer, "result")
  }

  const askWallet = async (method: string, params: ReadonlyArray<unknown>): Promise<unknown> => {
    const signClient = await client()
    if (session === undefined) throw new ProviderError(4100, "No wallet is connected.")
    if (!session.namespaces["eip155"]?.methods.includes(method))
      throw new ProviderError(4200, `The wallet does not offer ${method}.`)
    const request = { method, params: [...params] }
    // A wallet on another chain signs and sends for this chain as well.
    return signClient.request({ topic: session.topic, chainId: chain, request })
  }

  const answer = async (method: string, params: ReadonlyArray<unknown>): Promise<unknown> => {
    switch (method) {
      case "eth_requestAccounts":
        await pair()
        return accounts()
      case "eth_accounts":
        await client()
        return accounts()
      case "eth_chainId":
        return `0x${options.chainId.toString(16)}`
      default:
        return walletMethods.includes(method) ? askWallet(method, params) : askNode(method, params)
    }
  }

  return {
    request: ({ method, params = [] }) =>
      answer(method, params).catch((error: unknown) => {
        throw toProviderError(method, error)
      }),
    on: (event, listener) => {
      listeners.set(event, (listeners.get(event) ?? new Set()).add(listener))
    },
    removeListener: (event, listener) => {
      listeners.get(event)?.delete(listener)
    }
  }
}
