// All documents of /docs as markdown: guides, errors, and the reference with a page per endpoint and event.
import { Effect } from "effect"
import manifest from "../../../package.json" with { type: "json" }
import { attemptsInWords } from "../../domain/attemptsInWords.ts"
import { delaySeconds } from "../../platform/workers/RetrySchedule.ts"
import { RetryPolicy } from "../../webhooks/RetryPolicy.ts"
import { contractDocument } from "../openapi/Documents.ts"
import { withExamples } from "../openapi/exampleOf.ts"
import { wheelName } from "../packages/wheelName.ts"
import { errorsGuide, errorsPage } from "./errorsGuide.ts"
import { guides, titleOf } from "./guides.ts"
import { type ReferenceGroup, referenceOf } from "./reference.ts"

/** A document, with its path below /docs. */
export interface Document {
  readonly name: string
  readonly title: string
  readonly summary: string
  readonly markdown: string
  /** The page that the site shows instead of the markdown. */
  readonly page?: string
}

/** The documents whose names do not depend on the contract. */
export const documentNames: ReadonlyArray<string> = [...guides.map(({ name }) => name), "errors", "reference"]

export interface Documents {
  /** The guides, the errors and the reference. */
  readonly main: ReadonlyArray<Document>
  /** The reference's pages. */
  readonly groups: ReadonlyArray<ReferenceGroup>
}

/** Contains only one placeholder: `{base_url}` for the service's URL. */
export const documents: Effect.Effect<Documents> = Effect.gen(function* () {
  const attempts = attemptsInWords(yield* delaySeconds(yield* RetryPolicy))
  const filled = (markdown: string) =>
    markdown
      .replaceAll("{attempts}", attempts)
      .replaceAll("{wheel}", wheelName)
      .replaceAll("{version}", manifest.version)
  const reference = referenceOf(withExamples(yield* contractDocument("{base_url}")))
  return {
    main: [
      ...guides.map(({ name, markdown, summary }) => ({
        name,
        title: titleOf(markdown),
        summary,
        markdown: filled(markdown)
      })),
      {
        name: "errors",
        title: "Errors",
        summary: "Every code, what it means and what to do in code",
        markdown: errorsGuide,
        page: errorsPage
      },
      {
        name: "reference",
        title: "API reference",
        summary: "Every endpoint with its fields, examples and errors",
        markdown: reference.markdown,
        page: reference.index
      }
    ],
    groups: reference.groups
  }
})
