// Settled volume and count by day: two plots over one axis, and the same as a table.
import { useState } from "preact/hooks"
import type { OverviewPage } from "../payments/Api.ts"
import { count, dayName, usd } from "./format.ts"

type Day = OverviewPage["days"][number]

const width = 720
const volumeHeight = 150
const countHeight = 44
const gap = 22
const height = volumeHeight + gap + countHeight

/** For drawing alone: a bar's height needs no exactness. */
const approximate = (volume: string) => Number.parseFloat(volume)

export const Chart = ({ days }: { readonly days: ReadonlyArray<Day> }) => {
  const [at, setAt] = useState<number>()
  const step = width / Math.max(days.length, 1)
  const bar = step * 0.64
  const maxVolume = Math.max(...days.map(({ volume }) => approximate(volume)), 0.000001)
  const maxCount = Math.max(...days.map((day) => day.count), 1)
  const shown = at === undefined ? undefined : days[at]
  return (
    <figure class="chart">
      <figcaption>
        {shown === undefined ? (
          <span class="soft">Settled by day (UTC), the last {days.length} days</span>
        ) : (
          <span>
            <strong>{dayName(shown.day)}</strong> {usd(shown.volume)} in {count(shown.count)}{" "}
            {shown.count === 1 ? "payment" : "payments"}
          </span>
        )}
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label="Settled volume and count by day; the table below has the same data"
        onPointerLeave={() => setAt(undefined)}
      >
        <line class="axis" x1="0" x2={width} y1={volumeHeight} y2={volumeHeight} />
        <line class="axis" x1="0" x2={width} y1={height} y2={height} />
        {days.map((day, index) => {
          const tall = (approximate(day.volume) / maxVolume) * (volumeHeight - 8)
          const many = (day.count / maxCount) * (countHeight - 6)
          const x = index * step + (step - bar) / 2
          return (
            <g key={day.day} class={index === at ? "day at" : "day"} onPointerEnter={() => setAt(index)}>
              <rect class="touch" x={index * step} y="0" width={step} height={height} />
              {day.count === 0 ? null : (
                <>
                  <rect
                    class="volume"
                    x={x}
                    y={volumeHeight - Math.max(tall, 2)}
                    width={bar}
                    height={Math.max(tall, 2)}
                    rx="2"
                  />
                  <rect
                    class="number"
                    x={x}
                    y={height - Math.max(many, 2)}
                    width={bar}
                    height={Math.max(many, 2)}
                    rx="2"
                  />
                </>
              )}
            </g>
          )
        })}
      </svg>
      <div class="axis-days" aria-hidden="true">
        <span>{days[0] === undefined ? "" : dayName(days[0].day)}</span>
        <span class="legend">
          <i class="volume" /> Volume <i class="number" /> Payments
        </span>
        <span>{days.at(-1) === undefined ? "" : dayName(days.at(-1)?.day ?? "")}</span>
      </div>
      <details>
        <summary>As a table</summary>
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">Day (UTC)</th>
              <th scope="col" class="number">
                Volume
              </th>
              <th scope="col" class="number">
                Payments
              </th>
            </tr>
          </thead>
          <tbody>
            {days
              .filter((day) => day.count > 0)
              .map((day) => (
                <tr key={day.day}>
                  <td>{dayName(day.day)}</td>
                  <td class="number">{usd(day.volume)}</td>
                  <td class="number">{count(day.count)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </details>
    </figure>
  )
}
