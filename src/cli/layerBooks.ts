// The books for the operator's commands, and the chain that they are held against.
import { Layer } from "effect"
import { Alerts } from "../alerts/Alerts.ts"
import { layerChainAlerts } from "../alerts/layerChainAlerts.ts"
import { Books } from "../books/Books.ts"
import { ChainVerifier } from "../chain/ChainVerifier.ts"
import { RpcPool } from "../chain/RpcPool.ts"

export const layerBooks = Books.layer.pipe(
  Layer.provide(ChainVerifier.layerConfig.pipe(Layer.provide(RpcPool.layerConfig))),
  Layer.provide(layerChainAlerts.pipe(Layer.provide(Alerts.layer)))
)
