// A wallet at the other end of WalletConnect: WalletConnect's own client, which approves every request and signs with a
// test wallet's key.
import { SignClient } from "@walletconnect/sign-client"
import type { TestWallet } from "./testWallet.ts"

export interface WalletConnectWallet {
  /** As after scanning the QR code. */
  readonly pair: (uri: string) => Promise<void>
  /** Ends every session, as a person does in the wallet. */
  readonly disconnect: () => Promise<void>
}

export const makeWalletConnectWallet = async (
  relayUrl: string,
  projectId: string,
  wallet: TestWallet,
  { approves = true }: { readonly approves?: boolean } = {}
): Promise<WalletConnectWallet> => {
  const client = await SignClient.init({
    projectId,
    relayUrl,
    telemetryEnabled: false,
    logger: "silent",
    customStoragePrefix: crypto.randomUUID(),
    metadata: { name: "Pocket", description: "A wallet", url: "https://wallet.example", icons: [] }
  })
  client.on("session_proposal", async ({ id, params }) => {
    if (!approves) return client.reject({ id, reason: { code: 5000, message: "User rejected." } })
    const asked = params.optionalNamespaces["eip155"]
    const chains = asked?.chains ?? []
    await client.approve({
      id,
      namespaces: {
        eip155: {
          chains,
          accounts: chains.map((chain) => `${chain}:${wallet.address}`),
          methods: asked?.methods.filter((method) => !method.startsWith("wallet_")) ?? [],
          events: asked?.events ?? []
        }
      }
    })
  })
  client.on("session_request", async ({ id, params: { request }, topic }) => {
    const answer = await wallet.handle(request.method, request.params)
    await client.respond({ topic, response: { id, jsonrpc: "2.0", ...answer } })
  })
  return {
    pair: async (uri) => {
      await client.core.pairing.pair({ uri })
    },
    disconnect: async () => {
      for (const { topic } of client.session.getAll())
        await client.disconnect({ topic, reason: { code: 6000, message: "User disconnected." } })
    }
  }
}
