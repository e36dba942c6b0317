import { expect, test } from "bun:test"
import { misspeltVariables } from "../../../src/platform/AppConfig/misspeltVariables.ts"
import { variables } from "../../../src/platform/AppConfig/settings.ts"

test("a misspelt variable is named with the one that is meant", () => {
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
    "BASE_SEPOLIA_RPC_URL is no setting, and nothing reads it. Is BASE_SEPOLIA_RPC_URLS meant?",
    "INTENT_TOKEN_SECRET is no setting, and nothing reads it. Is INTENT_TOKEN_SECRETS meant?",
    "ENCRYPTON_KEYS_FILE is no setting, and nothing reads it. Is ENCRYPTION_KEYS_FILE meant?"
  ])
})

test("a file for a setting that is read from none is named: nothing reads it", () => {
  const env = {
    BASE_SEPOLIA_RPC_URLS_FILE: "/run/secrets/nodes",
    DATABASE_URL_FILE: "x",
    POSTGRES_PASSWORD_FILE: "x"
  }
  expect(misspeltVariables(env, variables)).toEqual([
    "BASE_SEPOLIA_RPC_URLS_FILE is no setting, and nothing reads it. Is BASE_SEPOLIA_RPC_URLS meant?"
  ])
})
