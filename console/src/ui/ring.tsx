const round = 2 * Math.PI * 6

/** Shows the remaining part of a time, as a ring. The number stands beside it. */
export function Ring({ share }: { share: number }) {
  const part = Math.max(0, Math.min(1, share)) * round
  return (
    <svg className="ring" viewBox="0 0 16 16" aria-hidden="true">
      <circle className="ring-bg" cx="8" cy="8" r="6" />
      <circle
        className="ring-fg"
        cx="8"
        cy="8"
        r="6"
        strokeDasharray={`${part.toFixed(1)} ${round.toFixed(1)}`}
        transform="rotate(-90 8 8)"
      />
    </svg>
  )
}
