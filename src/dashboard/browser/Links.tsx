// Payment links: created, shared, closed.

import { useState } from "preact/hooks"
import { dailyWorkRoles } from "../../domain/roleSets.ts"
import type { LinkList, LinkView } from "../../payments/links/Api.ts"
import { call, useAction } from "./api.ts"
import { Badge } from "./components/Badge.tsx"
import { Button } from "./components/Button.tsx"
import { Card } from "./components/Card.tsx"
import { Check, Choices } from "./components/Choices.tsx"
import { Copy } from "./components/Copy.tsx"
import { Confirm, Dialog } from "./components/Dialog.tsx"
import { Empty } from "./components/Empty.tsx"
import { External } from "./components/External.tsx"
import { Field } from "./components/Field.tsx"
import { type Fields, Form } from "./components/Form.tsx"
import { Loaded } from "./components/Loaded.tsx"
import { Problem } from "./components/Problem.tsx"
import { Table } from "./components/Table.tsx"
import { Time } from "./components/Time.tsx"
import { usd } from "./format.ts"
import { May } from "./May.tsx"
import { useSession } from "./session.ts"
import { toast } from "./toasts.ts"
import { useMerchantPage } from "./useMerchantPage.ts"
import { withOlder } from "./withOlder.ts"

const amountOf = ({ amount, maxAmount = "", minAmount = "" }: LinkView) =>
  amount === undefined ? `${usd(minAmount)} to ${usd(maxAmount)}` : usd(amount)

/** The counter for this link. */
const counterOf = ({ id, url }: LinkView) => new URL(`/counter#link=${id}`, url).href

const tones = { open: "good", paid: "info", expired: "neutral", closed: "neutral" } as const
const words = { open: "Active", paid: "Paid", expired: "Expired", closed: "Closed" } as const

const Actions = ({ link, onClose }: { readonly link: LinkView; readonly onClose: () => void }) => (
  <span class="row-actions">
    <Copy text={link.url} what={`the link for ${link.description}`} label="Copy link" />
    <External href={link.posterUrl}>Poster</External>
    {link.amount === undefined ? <External href={counterOf(link)}>Counter</External> : null}
    {link.state === "open" ? (
      <May roles={dailyWorkRoles}>
        <Button kind="danger" label={`Close link: ${link.description}`} onClick={onClose}>
          Close link
        </Button>
      </May>
    ) : null}
  </span>
)

export const Links = () => {
  const { api } = useSession()
  const page = useMerchantPage<LinkList>("/payment-links", { everyMillis: 5_000 })
  const [older, setOlder] = useState<LinkList>()
  const more = useAction(async (shown: ReadonlyArray<LinkView>) => {
    const next = await call<LinkList>("GET", `${api}/payment-links?startingAfter=${shown.at(-1)?.id}`)
    setOlder({ ...next, links: [...shown, ...next.links] })
  })
  const [creating, setCreating] = useState(false)
  const [chosen, setChosen] = useState(false)
  const [closing, setClosing] = useState<LinkView>()

  const create = useAction(async (fields: Fields) => {
    const { amount = "", days = "", description = "", maxAmount = "", minAmount = "" } = fields
    const expiry = days !== "" ? new Date(Date.now() + Number(days) * 86_400_000) : undefined
    await call("POST", `${api}/payment-links`, {
      description,
      once: fields["once"] === "on",
      ...(chosen ? { minAmount, maxAmount } : { amount }),
      ...(expiry === undefined ? {} : { expiresAt: expiry.toISOString() })
    })
    setCreating(false)
    setOlder(undefined)
    toast("Payment link created")
    await page.reload()
  }, creating)
  const close = useAction(async (link: LinkView) => {
    await call<void>("DELETE", `${api}/payment-links/${link.id}`)
    setClosing(undefined)
    setOlder(undefined)
    toast("Payment link closed")
    await page.reload()
  }, closing)

  return (
    <>
      <div class="head">
        <h1>Payment links</h1>
        <May roles={dailyWorkRoles}>
          <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
            Create link
          </Button>
        </May>
      </div>
      <Card flush>
        <Loaded page={page}>
          {({ hasMore, links: newest }) => {
            const links = withOlder(newest, older?.links ?? [], ({ id }) => id)
            const last = links.at(-1)
            return last === undefined ? (
              <Empty icon="link" title="No payment links">
                <p>Anyone with the link can pay: send it, print its poster, or run a counter with it.</p>
              </Empty>
            ) : (
              <>
                <Table
                  rows={links}
                  keyOf={({ id }) => id}
                  columns={[
                    {
                      name: "For",
                      cell: ({ description, url }) => (
                        <span class="person">
                          <span class="break">{description}</span>
                          <small class="mono soft break link-url">{url}</small>
                        </span>
                      )
                    },
                    { name: "Amount", cell: (link) => `${amountOf(link)}${link.once ? ", single use" : ""}` },
                    {
                      name: "Status",
                      cell: ({ state }) => <Badge tone={tones[state]}>{words[state]}</Badge>
                    },
                    {
                      name: "Created",
                      class: "soft nowrap",
                      cell: ({ createdAt }) => <Time at={createdAt} />
                    },
                    {
                      name: "Actions",
                      hidden: true,
                      class: "end",
                      cell: (link) => <Actions link={link} onClose={() => setClosing(link)} />
                    }
                  ]}
                />
                <Problem error={more.error} />
                {(older?.hasMore ?? hasMore) ? (
                  <div class="actions start">
                    <Button busy={more.busy} onClick={() => void more.run(links)}>
                      Show older links
                    </Button>
                  </div>
                ) : null}
              </>
            )
          }}
        </Loaded>
      </Card>
      {creating ? (
        <Dialog title="Create a payment link" onClose={() => setCreating(false)}>
          <Form submit="Create link" action={create} onCancel={() => setCreating(false)}>
            <Field label="Description" name="description" />
            <Choices legend="Amount">
              <label>
                <input
                  type="radio"
                  name="by"
                  value="fixed"
                  checked={!chosen}
                  onChange={() => setChosen(false)}
                />
                <span>Fixed</span>
              </label>
              <label>
                <input
                  type="radio"
                  name="by"
                  value="chosen"
                  checked={chosen}
                  onChange={() => setChosen(true)}
                />
                <span>The buyer chooses</span>
              </label>
            </Choices>
            {chosen ? (
              <>
                <Field label="At least, in USD" name="minAmount" />
                <Field label="At most, in USD" name="maxAmount" />
              </>
            ) : (
              <Field label="Amount in USD" name="amount" />
            )}
            <Field
              label="Days until it expires (optional)"
              name="days"
              pattern={{ of: "[1-9][0-9]{0,3}", says: "Whole days, from 1 to 9999." }}
            />
            <Check name="once" label="Single use" />
          </Form>
        </Dialog>
      ) : null}
      {closing === undefined ? null : (
        <Confirm
          title={`Close the link for ${closing.description}?`}
          action="Close link"
          danger
          busy={close.busy}
          error={close.error}
          onConfirm={() => void close.run(closing)}
          onClose={() => setClosing(undefined)}
        >
          <p>
            The link accepts no new payments, except from buyers who opened it within the last five minutes.
            Open payments continue. You cannot undo this.
          </p>
        </Confirm>
      )}
    </>
  )
}
