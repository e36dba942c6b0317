// The service, in this process. Nothing else.
import "effect/schema/SchemaJITCompiler/enable"
import * as App from "./App.ts"
import { launch } from "./launch.ts"

launch(App.layer)
