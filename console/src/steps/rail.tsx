import { stepNames, type Tick, type Ticks } from "./ticks.ts"

const classes: Readonly<Record<Tick, string>> = {
  done: "t-d",
  skipped: "t-s",
  waiting: "t-w",
  running: "t-r",
  held: "t-h",
  no: "t-x",
  refused: "t-x",
  failed: "t-f",
  open: "t-o",
}

/** The seven ticks of one call. `label` says the same in words. */
export function Rail({ ticks, label }: { ticks: Ticks; label: string }) {
  return (
    <span className="rail" role="img" aria-label={label}>
      {stepNames.map((name) => (
        <i key={name} className={classes[ticks[name]]} />
      ))}
    </span>
  )
}
