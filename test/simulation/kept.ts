// Seeds that have found something, and what. The suite runs each of them.
export const kept: ReadonlyArray<{ readonly seed: string; readonly found: string }> = [
  {
    seed: "341",
    found:
      "a transfer that a reorganisation had put below its announcement, read while no node said who had sent it, was given to a person for good"
  },
  {
    seed: "75999",
    found:
      "an announcement was answered after the buyer had stopped waiting and sent again: the checkout took it back, and paid twice"
  },
  {
    seed: "112651",
    found:
      "a payment opened by a clock 78 s ahead: its attempt was ended by the very transfer that paid it, and the buyer paid twice"
  },
  {
    seed: "1826",
    found:
      "a wallet that sends with a nonce of its own had a prompt open when its attempt ended, as something else had used the nonce: the buyer paid in another browser, and then approved"
  },
  {
    seed: "454193",
    found:
      "of two equal payments of one wallet, the likelier one was passed over while a node failed, and the other one took its transfer"
  },
  {
    seed: "1161377",
    found:
      "nodes behind one address, some of which stood still, made a transfer look replaced; the service ended its attempt by the nonce that the wallet had been asked to use, not by the one that it had used, and the buyer paid again"
  },
  {
    seed: "1250640",
    found:
      "a process that was suspended while a node answered took the height of two minutes ago for that of now: a transfer from before the payment settled it"
  },
  {
    seed: "1283841",
    found: "a clock that was set back by two minutes limited everybody for as long"
  },
  {
    seed: "418274164",
    found:
      "a transfer of the same nonce paid in place of one that the chain had lost: the books were held to name the one that was lost"
  },
  {
    seed: "418274722",
    found:
      "blocks that had taken the place of those read held what a wallet had sent: its attempt was ended by that very transfer, and the buyer paid again"
  },
  {
    seed: "735758302",
    found:
      "a false report of a transfer that a clock 65 s ahead made look old was told that: it was held to be told of what it declared"
  }
]
