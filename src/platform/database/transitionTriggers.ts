// Triggers that refuse every state change that is not in the table of transitions (src/domain/transitions.ts). An
// allowed one costs the evaluation of a WHEN clause and calls nothing. Migrations contain these statements as text: a
// change to the table of transitions needs a migration with the changed statements.
import {
  type Entity,
  entities,
  type Requirement,
  type Transition,
  transitionsOf
} from "../../domain/transitions.ts"

/** The SQLSTATE of a refused transition. */
export const transitionRefused = "QT001"

type Row = "NEW" | "OLD"

const stateOf: { readonly [E in Entity]: (row: Row) => string } = {
  payments: (row) => `${row}.status`,
  claimed_transfers: (row) => `CASE WHEN ${row}.dropped_at IS NULL THEN 'held' ELSE 'dropped' END`,
  // Not a generated column, because the profile `yugabyte` of docs/databases.md has none.
  incoming_transfers: (row) => `CASE
      WHEN ${row}.dropped_at IS NOT NULL THEN 'dropped'
      WHEN ${row}.payment_id IS NOT NULL THEN 'paid'
      WHEN ${row}.attached_to IS NOT NULL THEN 'attaching'
      WHEN ${row}.handled_at IS NOT NULL THEN 'handled'
      ELSE 'open' END`,
  refunds: (row) =>
    `CASE WHEN ${row}.status = 'proven' AND ${row}.dropped_at IS NOT NULL THEN 'dropped' ELSE ${row}.status END`,
  x402_settlements: (row) => `CASE
      WHEN ${row}.status = 'pending' THEN CASE WHEN ${row}.reserves THEN 'reserved' ELSE 'released' END
      WHEN ${row}.status = 'settled' AND ${row}.answered_at IS NOT NULL THEN 'delivered'
      ELSE ${row}.status END`
}

/** The columns that no update changes, in whichever state: whose money it is, how much, and what for. */
const identity: { readonly [E in Entity]: ReadonlyArray<string> } = {
  payments: ["id", "merchant_id", "env", "amount", "receiver", "ref_code", "intent_url"],
  claimed_transfers: ["chain_id", "payer", "receiver", "amount", "payment_id", "refund_id"],
  incoming_transfers: ["id", "env", "chain_id", "transaction_id", "payer", "receiver", "amount", "ordinal"],
  refunds: ["id", "merchant_id", "env", "payment_id", "transfer_id", "amount", "recipient"],
  x402_settlements: [
    "id",
    "merchant_id",
    "env",
    "payment_id",
    "chain_id",
    "asset",
    "payer",
    "nonce",
    "receiver",
    "amount"
  ]
}

/** The columns that do not change once money has moved. */
const money: { readonly [E in Entity]: ReadonlyArray<string> } = {
  payments: ["payer_address", "transaction_id", "token_changes"],
  claimed_transfers: ["transaction_id", "ordinal"],
  incoming_transfers: ["payment_id"],
  refunds: ["sender", "transaction_id"],
  x402_settlements: ["transaction_id"]
}

const stay = (columns: ReadonlyArray<string>) => {
  const rowOf = (row: Row) => `ROW(${columns.map((column) => `${row}.${column}`).join(", ")})`
  return `${rowOf("OLD")} IS NOT DISTINCT FROM ${rowOf("NEW")}`
}

const conditionOf = (entity: Entity, requirement: Requirement, row: Row): string => {
  switch (requirement) {
    case "it is of a payment":
      return `${row}.payment_id IS NOT NULL`
    case "it is of a refund":
      return `${row}.refund_id IS NOT NULL`
    case "it is watched":
      return `(OLD.watch_at IS NOT NULL OR OLD.refund_id IS NOT NULL) AND ${conditionOf(entity, "its money stays", row)}`
    case "its money stays":
      return stay(money[entity])
    case "its transfer is another":
      return "OLD.transaction_id <> NEW.transaction_id"
  }
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** True if one of the transitions matches. */
const fits = (entity: Entity, transitions: ReadonlyArray<Transition>): string => {
  const conditions = transitions.map(({ from, requires, to }) =>
    [
      ...(from === null ? [] : [`${stateOf[entity]("OLD")} = ${quoted(from)}`]),
      ...(to === null ? [] : [`${stateOf[entity]("NEW")} = ${quoted(to)}`]),
      ...(requires === undefined ? [] : [conditionOf(entity, requires, to === null ? "OLD" : "NEW")])
    ].join(" AND ")
  )
  return conditions.length === 0
    ? "false"
    : conditions.map((condition) => `(${condition})`).join("\n      OR ")
}

const triggersOf = (entity: Entity): ReadonlyArray<string> => {
  const transitions = transitionsOf(entity)
  const state = stateOf[entity]
  const judged = transitions.filter(({ from, to }) => from === to).map(({ from }) => from)
  const stays = [
    `${state("OLD")} = ${state("NEW")}`,
    ...judged.map((from) => `${state("OLD")} <> ${quoted(from ?? "")}`)
  ].join(" AND ")
  const refused = `${entity}_move_refused`
  const trigger = (name: string, event: string, fitting: string) => `
    CREATE OR REPLACE TRIGGER ${entity}_${name} AFTER ${event} ON ${entity}
    FOR EACH ROW WHEN (NOT (${fitting})) EXECUTE FUNCTION ${refused}()`
  return [
    `
    CREATE OR REPLACE FUNCTION ${refused}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION '%: no move leads from % to %', TG_TABLE_NAME,
        CASE TG_OP WHEN 'INSERT' THEN 'none' ELSE ${state("OLD")} END,
        CASE TG_OP WHEN 'DELETE' THEN 'none' ELSE ${state("NEW")} END
        USING ERRCODE = '${transitionRefused}', TABLE = TG_TABLE_NAME;
    END $$`,
    trigger(
      "created",
      "INSERT",
      fits(
        entity,
        transitions.filter(({ from }) => from === null)
      )
    ),
    trigger(
      "moved",
      "UPDATE",
      `${stay(identity[entity])} AND (
      (${stays})\n      OR ${fits(
        entity,
        transitions.filter(({ from, to }) => from !== null && to !== null)
      )})`
    ),
    trigger(
      "deleted",
      "DELETE",
      fits(
        entity,
        transitions.filter(({ to }) => to === null)
      )
    ),
    `
    CREATE OR REPLACE TRIGGER ${entity}_truncated BEFORE TRUNCATE ON ${entity}
    FOR EACH STATEMENT EXECUTE FUNCTION truncation_refused()`
  ]
}

/** Statements that create the triggers, in order. */
export const transitionTriggers: ReadonlyArray<string> = [
  `
    CREATE OR REPLACE FUNCTION truncation_refused() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION '%: rows of money are not truncated', TG_TABLE_NAME
        USING ERRCODE = '${transitionRefused}', TABLE = TG_TABLE_NAME;
    END $$`,
  ...entities.flatMap(triggersOf)
]
