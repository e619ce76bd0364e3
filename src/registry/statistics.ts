export interface ToolCallStats {
  count: number
  failures: number
  avgDuration: number
  p50: number
  p95: number
  lastError?: string
}

interface Counter {
  count: number
  failures: number
  total: number
  /** Calls by duration; a bucket is an eighth of a doubling wide, so a percentile is at most a tenth off. */
  buckets: Uint32Array
  lastError: string | undefined
}

const bucketCount = 8 * 24

/** Counts calls per tool in constant space. */
export class CallStatistics {
  readonly #counters = new Map<string, Counter>()

  count(tool: string, durationMs: number, error: string | undefined): void {
    let counter = this.#counters.get(tool)
    if (counter === undefined) {
      counter = { count: 0, failures: 0, total: 0, buckets: new Uint32Array(bucketCount), lastError: undefined }
      this.#counters.set(tool, counter)
    }
    counter.count++
    counter.total += durationMs
    counter.buckets[bucketOf(durationMs)]!++
    if (error === undefined) return
    counter.failures++
    counter.lastError = error
  }

  read(): Record<string, ToolCallStats> {
    return Object.fromEntries([...this.#counters].map(([tool, counter]) => [tool, statsOf(counter)]))
  }
}

function statsOf({ count, failures, total, buckets, lastError }: Counter): ToolCallStats {
  return {
    count,
    failures,
    avgDuration: total / count,
    p50: percentile(buckets, count * 0.5),
    p95: percentile(buckets, count * 0.95),
    ...(lastError === undefined ? {} : { lastError }),
  }
}

function bucketOf(milliseconds: number): number {
  if (milliseconds < 1) return 0
  return Math.min(bucketCount - 1, 1 + Math.floor(Math.log2(milliseconds) * 8))
}

function percentile(buckets: Uint32Array, rank: number): number {
  let seen = 0
  for (const [bucket, calls] of buckets.entries()) {
    seen += calls
    if (seen >= rank && calls > 0) return bucket === 0 ? 0 : Math.round(2 ** ((bucket - 0.5) / 8))
  }
  return 0
}
