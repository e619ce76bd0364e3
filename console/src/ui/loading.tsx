import { Later } from "./later.tsx"
import { ProblemBox } from "./problem-box.tsx"

/** The part of a query that matters while there is nothing to show. */
interface Missing {
  readonly error: Error | null
  readonly refetch: () => unknown
}

/** Stands for data that is not there: lines after a moment, or what went wrong. Data that was read once stays instead. */
export function Loading({ of: { error, refetch }, lines }: { of: Missing; lines: number }) {
  if (error !== null) return <ProblemBox error={error} retry={() => void refetch()} />
  return (
    <Later>
      <div className="sks" aria-busy="true">
        {Array.from({ length: lines }, (_, at) => (
          <div className="sk" key={`${at}`} />
        ))}
      </div>
    </Later>
  )
}
