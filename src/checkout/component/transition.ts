// The checkout as a pure state machine: maps a model and an event to the next model and commands. It knows neither the
// page nor the network, so tests run it without either.
import type { Next } from "./Command.ts"
import type { Message } from "./Message.ts"
import { beforePayment, finalStates, type Model, mayPay, maySend, pays } from "./Model.ts"
import { accountsChanged, chainChanged, initialWay, onConnected } from "./transition/account.ts"
import { attemptSeen, attemptsRead, attemptsUnread, showOtherAttempt } from "./transition/elsewhere.ts"
import { enter, leave } from "./transition/enter.ts"
import { finalState, forgetCommands, keyChanged } from "./transition/finalState.ts"
import { fundingFailed, judgeBalance } from "./transition/funds.ts"
import { chainSilent, noTransfer, onLost, transferFound } from "./transition/inquiry.ts"
import { loadRefused, onLoaded } from "./transition/loading.ts"
import { walletNotice, withWarning } from "./transition/notices.ts"
import { after, nextPoll, pollDelay } from "./transition/polling.ts"
import { proceed, startInquiry } from "./transition/proceed.ts"
import { reportRefused, stillPending } from "./transition/report.ts"
import { byTransfer, relayRefused, signFailed, submitSignature } from "./transition/signature.ts"
import { askForTransfer, notSent } from "./transition/transfer.ts"
import type { MessageKey } from "./translate.ts"

/** The wallet sent it, and another transaction replaced it, or it was mined and pays nothing. */
const paysNothing: ReadonlySet<MessageKey> = new Set(["cancelledReplaced", "cancelledReverted"])

/** The next model and commands for any message. */
export const transition = (model: Model, message: Message): Next => {
  switch (message.type) {
    case "Loaded":
      return onLoaded(model, message)
    case "LoadFailed":
      return loadRefused(model, message)
    case "ContextRead":
      return [{ ...model, context: message.context }, []]
    case "TimeOver":
      // A transfer from elsewhere may still be found, and the wallet's requests are checked.
      if (!mayPay(model) || model.panel !== undefined || model.busy === "checking") return [model, []]
      return model.addressShown
        ? [leave(model, "failed", { reason: "failedUnverified" }), []]
        : [leave(model, "expired"), []]
    case "Retry":
      return [leave(model, "loading"), [{ run: "load" }]]

    case "WalletsFound":
      return [
        { ...model, wallets: message.wallets },
        // A wallet that announces itself late may be the one from before the reload.
        model.account === undefined && model.busy === undefined && model.context !== undefined
          ? [{ run: "restore" }]
          : []
      ]
    case "ChooseWallet":
      return [
        leave(model, "connect", {
          busy: "connecting",
          walletId: message.walletId,
          pairingUri: undefined
        }),
        [{ run: "connect", walletId: message.walletId }]
      ]
    case "Connected":
      return onConnected(model, message)
    case "NotConnected":
      return [model, []]
    case "PairingOffered":
      return [model.busy === "connecting" ? { ...model, pairingUri: message.uri } : model, []]
    case "ConnectFailed":
      if (model.busy !== "connecting") return [model, []]
      return [withWarning(model, walletNotice[message.failure]), []]
    case "ChangeWallet":
      return [
        leave(model, "connect", { account: undefined, walletId: undefined, ...initialWay }),
        [{ run: "readAttempts" }]
      ]

    case "SwitchNetwork":
      return [{ ...model, busy: "switching", notice: undefined }, [{ run: "switchChain" }]]
    case "Switched":
      return model.state === "wrong-network"
        ? proceed({ ...model, chainId: message.chainId, epoch: model.epoch + 1 })
        : [{ ...model, chainId: message.chainId }, []]
    case "SwitchFailed":
      return model.busy === "switching"
        ? [withWarning(model, walletNotice[message.failure]), []]
        : [model, []]

    case "CheckBalance":
      return [{ ...model, busy: "balance", notice: undefined }, [{ run: "readBalance" }]]
    case "BalanceRead":
      if (!mayPay(model)) return [model, []]
      return judgeBalance(
        { ...model, terms: message.terms, byCalls: message.byCalls === true },
        message.balance
      )
    case "BalanceFailed":
      if (!mayPay(model)) return [model, []]
      return [
        enter(model, maySend(model) ? "review" : "wrong-network", {
          notice: { key: "noticeNoBalance", tone: "warning" }
        }),
        []
      ]
    case "ContinueAnyway":
      if (!mayPay(model)) return [model, []]
      return [enter(model, maySend(model) ? "review" : "wrong-network"), []]
    case "GetFunds":
      return [{ ...model, busy: "funding", notice: undefined }, [{ run: "fund" }]]
    case "Funded":
      if (!mayPay(model)) return [model, []]
      return judgeBalance({ ...model, identified: true }, message.balance, {
        key: "noticeFunded",
        tone: "info"
      })
    case "FundingFailed":
      return fundingFailed(model, message.refusal)
    case "FundingDeclined":
      return [withWarning(model, walletNotice[message.failure]), []]

    case "AccountsChanged":
      return accountsChanged(model, message)
    case "ChainChanged":
      return chainChanged(model, message)

    case "Pay":
      if (!mayPay(model)) return [model, []]
      if (pays(model) === "by signature")
        return [leave(model, "awaiting-signature", { step: "authorization" }), [{ run: "sign" }]]
      if (!maySend(model)) return [enter(model, "wrong-network"), []]
      return [askForTransfer(model), [{ run: "pay", again: false }]]
    case "ShowPanel": {
      if (!beforePayment.has(model.state) || model.attempt !== undefined) return [model, []]
      const { panel } = message
      return [
        leave(model, "connect", { panel, account: undefined, walletId: undefined, polls: 0, ...initialWay }),
        [{ run: "readAttempts" }, ...(panel === "address" ? [{ run: "readAddress" } as const] : [])]
      ]
    }
    case "AddressRead":
      return [{ ...model, address: message.address, addressShown: true }, []]
    case "ReceiptRead":
      return [{ ...model, receipt: message.url }, []]
    case "AddressUnread":
      return message.notice === "noticeKeyChanged"
        ? [withWarning(model, keyChanged(model)), []]
        : [withWarning(model, "noticeUnreachable"), [after(pollDelay(2), { run: "readAddress" })]]
    case "ChooseWay":
      if (!mayPay(model)) return [model, []]
      return proceed({ ...model, byTransfer: message.byTransfer, epoch: model.epoch + 1, state: "review" })
    case "Signed":
      return submitSignature(leave(model, "submitted", { signed: message.signed, polls: 0 }))
    case "SignFailed":
      return signFailed(model, message)
    case "NotRelayed":
      return byTransfer(model, "noticeRelayDown")
    case "RelayRefused":
      return relayRefused(model, message.refusal)
    case "SendAgain":
      return [askForTransfer(model), [{ run: "release" }, { run: "pay", again: true }]]
    case "Asking":
      return [{ ...model, step: message.step, identified: message.step === "transfer" }, []]
    case "StopWaiting": {
      if (model.state === "connect") return [leave(model, "connect"), []]
      if (model.busy === "switching" || model.busy === "funding")
        return [{ ...model, epoch: model.epoch + 1, busy: undefined }, []]
      if (model.state !== "awaiting-signature") return [model, []]
      // The driver checks whether money was already requested from the wallet.
      return [leave(model, "review", { busy: "checking" }), [{ run: "release" }, { run: "load" }]]
    }
    case "Elsewhere":
      return [leave(model, "awaiting-signature", { step: "elsewhere" }), [{ run: "awaitLock" }]]
    case "LockFreed":
      if (model.step !== "elsewhere") return [model, []]
      // The other tab may have settled the payment, so it is read again.
      return [leave(model, "submitted", { busy: "checking" }), [{ run: "load" }]]
    case "AttemptSeen":
      return attemptSeen(model, message)
    case "Superseded": {
      const ended = finalState(model, message.payment)
      return ended ?? proceed({ ...model, payment: message.payment })
    }
    case "AttemptsRead":
      return attemptsRead(model, message)
    case "AttemptsUnread":
      return attemptsUnread(model)
    case "AttemptOpen":
      return showOtherAttempt({ ...model, attempt: undefined }, undefined)
    case "NotSent":
      return notSent(model, message)
    case "Unclear":
      return proceed({ ...model, attempt: message.attempt, epoch: model.epoch + 1 })
    case "Sent":
      if (finalStates.has(model.state)) return [model, []]
      return proceed({ ...model, attempt: message.attempt, identified: true, epoch: model.epoch + 1 })

    case "CheckChain":
      return model.attempt === undefined
        ? [model, []]
        : startInquiry({ ...model, epoch: model.epoch + 1 }, model.attempt)
    case "TransferFound":
      return transferFound(model, message.hash)
    case "NoTransfer":
      return noTransfer(model, message)
    case "ChainSilent":
      return chainSilent(model)

    case "Reported":
      return finalState(model, message.payment) ?? [model, nextPoll(model, undefined)]
    case "StillPending":
      return stillPending(model, message)
    case "ReportRefused":
      return reportRefused(model, message.refusal)
    case "Lost":
      return onLost(model)

    case "Prove":
      return model.attempt === undefined
        ? [model, []]
        : [{ ...model, busy: "signing", notice: undefined }, [{ run: "prove", attempt: model.attempt }]]
    case "Proven":
      return proceed({ ...model, attempt: message.attempt, identified: true, epoch: model.epoch + 1 })
    case "ProveFailed":
      return [withWarning(model, walletNotice[message.failure]), []]

    case "Cancel":
      return [leave(model, "cancelled", { reason: "cancelledByBuyer" }), []]
    case "StartAgain": {
      const isLost = model.reason !== undefined && paysNothing.has(model.reason)
      const [next, commands] = proceed({
        ...model,
        attempt: undefined,
        signed: undefined,
        state: "connect",
        epoch: model.epoch + 1
      })
      return [next, [...forgetCommands(model, isLost ? "giveUp" : "forget"), ...commands]]
    }
  }
}
