// The books for the operator's commands, with the chain that they are compared with.
import { Layer } from "effect"
import { ChainVerifier } from "../../chain/ChainVerifier.ts"
import { layerChainAlerts } from "../../chain/layerChainAlerts.ts"
import { RpcPool } from "../../chain/RpcPool.ts"
import { Books } from "../../payments/books/Books.ts"
import { Alerts } from "../../platform/alerts/Alerts.ts"

export const layerBooks = Books.layer.pipe(
  Layer.provide(ChainVerifier.layerConfig.pipe(Layer.provide(RpcPool.layerConfig))),
  Layer.provide(layerChainAlerts.pipe(Layer.provide(Alerts.layer)))
)
