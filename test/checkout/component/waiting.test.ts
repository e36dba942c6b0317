// Walks through the state machine with a wallet, a service and a chain that answer anything: whatever a page waits for
// is running, and every other page has something to press.
import { expect, test } from "bun:test"
import type { Command } from "../../../src/checkout/component/Command.ts"
import type { Action, Message } from "../../../src/checkout/component/Message.ts"
import { finalStates, initial, type Model } from "../../../src/checkout/component/Model.ts"
import { transition } from "../../../src/checkout/component/transition.ts"
import { type Chance, outsideWorld, type UnderWay } from "./outsideWorld.ts"

/** Mulberry32. */
const chanceOf = (seed: number): Chance => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

type Run = Command["run"]

const byBusy = {
  connecting: ["connect"],
  switching: ["switchChain"],
  balance: ["readBalance"],
  funding: ["fund"],
  checking: ["inquire", "load", "poll"],
  signing: ["prove"]
} as const satisfies Record<NonNullable<Model["busy"]>, ReadonlyArray<Run>>

const byStep = {
  authorization: ["sign"],
  identity: ["pay"],
  transfer: ["pay"],
  elsewhere: ["awaitLock"],
  announced: ["readAttempts"],
  received: ["readAttempts"],
  unsure: undefined,
  prove: undefined
} as const satisfies Record<NonNullable<Model["step"]>, ReadonlyArray<Run> | undefined>

/** One of these commands must be running; undefined if the page waits for its buyer. */
const awaited = ({ busy, state, step }: Model): ReadonlyArray<Run> | undefined => {
  if (state === "loading") return ["load"]
  if (busy !== undefined) return byBusy[busy]
  if (step !== undefined) return byStep[step]
  return state === "submitted" || state === "confirming" ? ["poll", "relay", "inquire", "load"] : undefined
}

const actionsOn = ({ busy, reason, state, step }: Model, half: boolean): ReadonlyArray<Action> => {
  if (busy === "connecting" || busy === "switching" || busy === "funding" || busy === "signing")
    return [{ type: "StopWaiting" }]
  switch (state) {
    case "connect":
      return [
        { type: "ChooseWallet", walletId: "w" },
        { type: "ShowPanel", panel: half ? "address" : undefined },
        { type: "Cancel" }
      ]
    case "wrong-network":
      return [{ type: "SwitchNetwork" }, { type: "ChangeWallet" }, { type: "Cancel" }]
    case "needs-funds":
      return busy === undefined
        ? [
            { type: "GetFunds" },
            { type: "CheckBalance" },
            { type: "ContinueAnyway" },
            { type: "ChangeWallet" }
          ]
        : [{ type: "ChangeWallet" }]
    case "review":
      return busy === undefined
        ? [
            { type: "Pay" },
            { type: "ChangeWallet" },
            { type: "Cancel" },
            { type: "ChooseWay", byTransfer: half }
          ]
        : [{ type: "ChangeWallet" }, { type: "Cancel" }]
    case "awaiting-signature":
      if (step === "unsure") return [{ type: "CheckChain" }, { type: "SendAgain" }]
      return step === "prove" ? [{ type: "Prove" }] : [{ type: "StopWaiting" }]
    case "confirming":
      return step === "announced" ? [{ type: "ChangeWallet" }] : []
    case "cancelled":
      return [{ type: "StartAgain" }]
    case "failed":
      return reason === "failedUnreachable" ? [{ type: "Retry" }] : []
    default:
      return []
  }
}

/** The messages of a walk that ends with a page that waits for nothing; undefined if there is no such walk. */
const stuckWalk = (chance: Chance): ReadonlyArray<Message> | undefined => {
  const world = outsideWorld(chance)
  const said: Array<Message> = []
  const ways: Array<UnderWay> = []
  let model = initial
  const start = (command: Command) => {
    world.keep(command)
    if (command.run === "poll" && model.attempt?.hash == null) return
    ways.push({ command, epoch: model.epoch, account: model.account, asked: "nothing" })
  }
  const send = (message: Message) => {
    said.push(message)
    const [next, commands] = transition(model, message)
    model = next
    commands.forEach(start)
  }
  const goOn = (way: UnderWay) => {
    const { command } = way
    const isCurrent = way.epoch === model.epoch
    if (command.run === "wait") {
      if (isCurrent) start(command.next)
      return
    }
    // However late the wallet answers, a sent transfer is reported.
    if (!isCurrent && way.asked !== "transfer") return
    const message = world.answer(way, model.chainId)
    if (message === undefined || (!isCurrent && message.type !== "Sent")) return
    if (message.type === "Asking") ways.push({ ...way, asked: message.step })
    send(message)
  }
  start({ run: "load" })
  for (let step = 0; step < 60 && !finalStates.has(model.state); step++) {
    const current = ways.filter(({ epoch }) => epoch === model.epoch)
    const runs = current.map(({ command }) => (command.run === "wait" ? command.next.run : command.run))
    if (awaited(model)?.some((run) => runs.includes(run)) === false) return said
    const what = chance()
    const actions = actionsOn(model, chance() < 0.5)
    const action = actions[Math.floor(chance() * actions.length)]
    if (what < 0.7 && ways.length > 0) {
      const [way] = ways.splice(Math.floor(chance() * ways.length), 1)
      if (way !== undefined) goOn(way)
    } else if (what < 0.9 && action !== undefined) send(action)
    else send(world.happening(model.account !== undefined))
  }
  return undefined
}

const seed = Number(process.env["WALK_SEED"] ?? Date.now() % 2 ** 31)

test(`no page waits for something that is not running (WALK_SEED=${seed})`, () => {
  const chance = chanceOf(seed)
  for (let walk = 0; walk < 150_000; walk++)
    expect({ walk, stuckAfter: stuckWalk(chance) }).toEqual({ walk, stuckAfter: undefined })
})
