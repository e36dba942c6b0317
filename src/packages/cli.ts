// What `@quittance/cli` runs.
import "../terminal/main.ts"
