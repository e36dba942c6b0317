// Settled volume and count by day, one above the other on one time axis, and as a table. Shows the values of the day at
// the pointer or chosen with the keyboard.
import { useState } from "preact/hooks"
import type { OverviewPage } from "../api/payments/Api.ts"
import { count, dayName, usd } from "./format.ts"

type Day = OverviewPage["days"][number]

const width = 760
const left = 64
const volumeHeight = 150
const countHeight = 44
const gap = 48
const height = volumeHeight + gap + countHeight

/** Only for drawing: a bar's height need not be exact. */
const approximate = (volume: string) => Number.parseFloat(volume)

/** The next round number: 1, 2 or 5 followed by zeros. */
const roundAbove = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10) * power
}

const axisUsd = (value: number) =>
  value >= 1_000_000
    ? `$${value / 1_000_000}M`
    : value >= 1_000
      ? `$${value / 1_000}k`
      : `$${Number(value.toPrecision(2))}`

const dayText = (day: Day) =>
  `${usd(day.volume)} in ${count(day.count)} ${day.count === 1 ? "payment" : "payments"}${
    Number.parseFloat(day.refunded) === 0 ? "" : `, ${usd(day.refunded)} refunded`
  }`

const Bars = (props: {
  readonly days: ReadonlyArray<Day>
  readonly at: number | undefined
  readonly onPoint: (index: number | undefined) => void
}) => {
  const { at, days } = props
  const step = (width - left) / Math.max(days.length, 1)
  const bar = step * 0.64
  const topVolume = roundAbove(Math.max(...days.map(({ volume }) => approximate(volume)), 0.01))
  const topCount = roundAbove(Math.max(...days.map((day) => day.count), 1))
  const every = Math.max(1, Math.ceil(days.length / 5))
  const mark = (y: number, text: string) => (
    <g key={`${y} ${text}`}>
      <line class="axis" x1={left} x2={width} y1={y} y2={y} />
      <text class="tick" x={left - 8} y={y + 4} text-anchor="end">
        {text}
      </text>
    </g>
  )
  return (
    <svg
      viewBox={`0 0 ${width} ${height + 22}`}
      role="img"
      aria-label="Settled volume and count by day; the table below has the same data"
      onPointerLeave={() => props.onPoint(undefined)}
    >
      {mark(8, axisUsd(topVolume))}
      {mark((volumeHeight + 8) / 2, axisUsd(topVolume / 2))}
      {mark(volumeHeight, "$0")}
      {mark(volumeHeight + gap, count(topCount))}
      {mark(height, "0")}
      {days.map((day, index) => {
        const tall = (approximate(day.volume) / topVolume) * (volumeHeight - 8)
        const many = (day.count / topCount) * countHeight
        const x = left + index * step + (step - bar) / 2
        return (
          <g
            key={day.day}
            class={index === at ? "day at" : "day"}
            onPointerEnter={() => props.onPoint(index)}
          >
            <rect class="touch" x={left + index * step} y="0" width={step} height={height} />
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
            {(days.length - 1 - index) % every === 0 ? (
              <text
                class="tick day-name"
                x={index === days.length - 1 ? width : left + index * step + step / 2}
                y={height + 18}
                text-anchor={index === days.length - 1 ? "end" : "middle"}
              >
                {dayName(day.day)}
              </text>
            ) : null}
          </g>
        )
      })}
    </svg>
  )
}

export const Chart = ({
  days,
  timeZone
}: {
  readonly days: ReadonlyArray<Day>
  readonly timeZone: string
}) => {
  const [at, setAt] = useState<number>()
  const shown = at === undefined ? undefined : days[at]
  const last = Math.max(0, days.length - 1)
  return (
    <figure class="chart">
      <figcaption>
        {shown === undefined ? null : (
          <span>
            <strong>{dayName(shown.day)}</strong> {dayText(shown)}
          </span>
        )}
      </figcaption>
      <div class="chart-plot">
        {/* Arrow keys do here what the pointer does on the chart. */}
        <input
          class="chart-day"
          type="range"
          min="0"
          max={last}
          value={at ?? last}
          aria-label="Day"
          aria-valuetext={shown === undefined ? "" : `${dayName(shown.day)}: ${dayText(shown)}`}
          onFocus={() => setAt(at ?? last)}
          onBlur={() => setAt(undefined)}
          onInput={({ currentTarget }) => setAt(Number(currentTarget.value))}
        />
        <Bars days={days} at={at} onPoint={setAt} />
      </div>
      <p class="legend soft">
        <i class="volume" /> Volume <i class="number" /> Payments
      </p>
      <details>
        <summary>As a table</summary>
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">Day ({timeZone})</th>
              <th scope="col" class="number">
                Volume
              </th>
              <th scope="col" class="number">
                Payments
              </th>
              <th scope="col" class="number">
                Refunded
              </th>
            </tr>
          </thead>
          <tbody>
            {days
              .filter((day) => day.count > 0 || Number.parseFloat(day.refunded) > 0)
              .map((day) => (
                <tr key={day.day}>
                  <td>{dayName(day.day)}</td>
                  <td class="number">{usd(day.volume)}</td>
                  <td class="number">{count(day.count)}</td>
                  <td class="number">{usd(day.refunded)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </details>
    </figure>
  )
}
