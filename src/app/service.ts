// Runs the service in this process.
import "effect/schema/SchemaJITCompiler/enable"
import { Layer } from "effect"
import * as App from "./App.ts"
import { buildAhead } from "./guides/Site.ts"
import { launch } from "./launch.ts"

launch(Layer.provideMerge(Layer.effectDiscard(buildAhead), App.layer))
