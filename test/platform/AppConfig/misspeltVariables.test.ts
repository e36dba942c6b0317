import { expect, test } from "bun:test"
import { misspeltVariables } from "../../../src/platform/AppConfig/misspeltVariables.ts"
import { variables } from "../../../src/platform/AppConfig/settings.ts"

test("a misspelt variable is reported with the one that is meant", () => {
  const env = {
    BASE_SEPOLIA_RPC_URL: "x",
    INTENT_TOKEN_SECRET: "x",
    ENCRYPTON_KEYS_FILE: "x",
    BASE_URL: "x",
    DATABASE_URL_FILE: "x",
    HOSTNAME: "x",
    PATH: "x",
    HOME: "x",
    LANGUAGE: "x",
    POSTGRES_PASSWORD: "x"
  }
  expect(misspeltVariables(env, variables)).toEqual([
    "Unknown variable BASE_SEPOLIA_RPC_URL. Did you mean BASE_SEPOLIA_RPC_URLS?",
    "Unknown variable INTENT_TOKEN_SECRET. Did you mean INTENT_TOKEN_SECRETS?",
    "Unknown variable ENCRYPTON_KEYS_FILE. Did you mean ENCRYPTION_KEYS_FILE?"
  ])
})

test("a _FILE variable for a setting that is not read from files is reported", () => {
  const env = {
    BASE_SEPOLIA_RPC_URLS_FILE: "/run/secrets/nodes",
    DATABASE_URL_FILE: "x",
    POSTGRES_PASSWORD_FILE: "x"
  }
  expect(misspeltVariables(env, variables)).toEqual([
    "Unknown variable BASE_SEPOLIA_RPC_URLS_FILE. Did you mean BASE_SEPOLIA_RPC_URLS?"
  ])
})
