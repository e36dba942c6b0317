// Runs the service in this process.
import "effect/schema/SchemaJITCompiler/enable"
import * as App from "./App.ts"
import { launch } from "./launch.ts"

launch(App.layer)
