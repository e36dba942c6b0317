// A wallet for developers without one, on local chains only: `TEST_WALLET=on` appends it to the component's script. Its
// key is generated in this browser, is worth nothing, and is stored by the page. It announces itself like any wallet
// (EIP-6963) and signs without a prompt.
import { isHex } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { isRecord } from "../../platform/pages/browser/isRecord.ts"

const chains = QUITTANCE_TEST_CHAINS.split(",").map((chain) => {
  const [id = "", rpcUrl = ""] = chain.split(" ")
  return { id: Number(id), rpcUrl }
})

const storageKey = "quittance-test-wallet"

const isKey = (text: string | null): text is `0x${string}` => /^0x[0-9a-f]{64}$/.test(text ?? "")

const storedKey = (): `0x${string}` => {
  const storedKey = localStorage.getItem(storageKey)
  if (isKey(storedKey)) return storedKey
  const key = generatePrivateKey()
  localStorage.setItem(storageKey, key)
  return key
}

interface Transaction {
  readonly to: `0x${string}`
  readonly data: `0x${string}`
  readonly nonce?: string
}

const isTransaction = (value: unknown): value is Transaction =>
  isRecord(value) && "to" in value && "data" in value

/** Announces the wallet now and whenever a page asks for wallets. */
const announce = (): void => {
  const account = privateKeyToAccount(storedKey())
  let chain = chains[0]

  const rpc = async (method: string, params: ReadonlyArray<unknown>): Promise<unknown> => {
    const response = await fetch(chain?.rpcUrl ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
    })
    const answer: { readonly result?: unknown; readonly error?: { readonly message: string } } =
      await response.json()
    if (answer.error !== undefined) throw new Error(answer.error.message)
    return answer.result
  }

  const send = async (transaction: Transaction): Promise<unknown> => {
    const { to, data, nonce } = transaction
    const [nextNonce, gas, gasPrice] = await Promise.all([
      nonce ?? rpc("eth_getTransactionCount", [account.address, "pending"]),
      rpc("eth_estimateGas", [{ from: account.address, to, data }]),
      rpc("eth_gasPrice", [])
    ])
    const signed = await account.signTransaction({
      chainId: chain?.id ?? 0,
      to,
      data,
      nonce: Number(nextNonce),
      gas: (BigInt(String(gas)) * 12n) / 10n,
      maxFeePerGas: BigInt(String(gasPrice)) * 2n,
      maxPriorityFeePerGas: 0n,
      type: "eip1559"
    })
    return rpc("eth_sendRawTransaction", [signed])
  }

  const signTyped = async (json: unknown): Promise<string> => {
    const { types, ...data } = JSON.parse(String(json))
    const { EIP712Domain: _, ...own } = types
    return account.signTypedData({ ...data, types: own })
  }

  const provider = {
    request: async ({ method, params = [] }: { method: string; params?: ReadonlyArray<unknown> }) => {
      const [first] = params
      switch (method) {
        case "eth_requestAccounts":
        case "eth_accounts":
          return [account.address]
        case "eth_chainId":
          return `0x${chain?.id.toString(16)}`
        case "wallet_switchEthereumChain":
          chain = chains.find(({ id }) => isRecord(first) && Number(first["chainId"]) === id) ?? chain
          return null
        case "personal_sign":
          if (!isHex(first, { strict: false })) throw new Error("a hex message is needed")
          return account.signMessage({ message: { raw: first } })
        case "eth_signTypedData_v4":
          return signTyped(params[1])
        case "eth_sendTransaction":
          if (!isTransaction(first)) throw new Error("a transaction is needed")
          return send(first)
        default:
          return rpc(method, params)
      }
    },
    on: () => {},
    removeListener: () => {}
  }
  const detail = Object.freeze({
    info: { uuid: crypto.randomUUID(), name: "Test wallet", icon: "", rdns: "testwallet.quittance" },
    provider
  })
  const dispatch = () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }))
  addEventListener("eip6963:requestProvider", dispatch)
  dispatch()
}

announce()
