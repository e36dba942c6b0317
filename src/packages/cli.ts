// What `@quittance/cli` runs.
import "./cli/main.ts"
