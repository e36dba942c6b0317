// Medusa's payment module with the provider, on a database of its own. A line on standard input, `{ call, args }`, is
// called on the module's service; the answer is a line that begins with ">". With `times` it is called so often at once.
const path = require("node:path")
const readline = require("node:readline")
const { ModulesDefinition } = require("@medusajs/framework/modules-sdk")
const {
  ContainerRegistrationKeys,
  isSharedConnectionSymbol,
  loadModels,
  Modules,
  ModulesSdkUtils,
  toMikroOrmEntities
} = require("@medusajs/framework/utils")
const { getMikroOrmWrapper } = require("@medusajs/test-utils/dist/database")
const { initModules } = require("@medusajs/test-utils/dist/init-modules")

const [, , clientUrl, options, isNew] = process.argv

const start = async () => {
  const database = { clientUrl, schema: "public" }
  const room = path.dirname(require.resolve("@medusajs/payment/package.json"))
  const mikroOrmEntities = toMikroOrmEntities(loadModels(path.join(room, "dist/models")))
  const pathToMigrations = path.join(room, "dist/migrations")
  // It removes what is there.
  if (isNew === "new")
    await getMikroOrmWrapper({ mikroOrmEntities, pathToMigrations, ...database }).setupDatabase()
  const { medusaApp } = await initModules({
    injectedDependencies: {
      [ContainerRegistrationKeys.PG_CONNECTION]: ModulesSdkUtils.createPgConnection(database)
    },
    modulesConfig: {
      [Modules.PAYMENT]: {
        definition: ModulesDefinition[Modules.PAYMENT],
        resolve: "@medusajs/payment",
        options: {
          database,
          providers: [{ resolve: "@quittance/medusa", id: "quittance", options: JSON.parse(options) }],
          [isSharedConnectionSymbol]: true
        }
      }
    },
    databaseConfig: database,
    cwd: process.cwd(),
    preventConnectionDestroyWarning: true
  })
  return medusaApp.modules[Modules.PAYMENT]
}

const say = (answer) => process.stdout.write(`>${JSON.stringify(answer)}\n`)
start().then(
  async (service) => {
    say({ ready: true })
    for await (const line of readline.createInterface({ input: process.stdin })) {
      const { call, args, times } = JSON.parse(line)
      const told = () =>
        service[call](...args).then(
          (answer) => ({ answer: answer ?? null }),
          (error) => ({ error: String(error.message) })
        )
      say(
        times === undefined
          ? await told()
          : { answer: await Promise.all(Array.from({ length: times }, told)) }
      )
    }
    process.exit(0)
  },
  (error) => {
    console.error(error)
    process.exit(1)
  }
)
