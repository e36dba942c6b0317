// Starts the service configured by the environment. Nothing else.
import "effect/schema/SchemaJITCompiler/enable"
import * as App from "./App.ts"
import { launch } from "./launch.ts"

launch(App.layer)
