import type { HouseProcess, Met } from "./house-process.ts"

/** How much later than now processes meet: long enough for the orders to reach them. */
const soonMs = 8

export interface Meeting<T> {
  values: T[]
  /** Whether all of them were at it at one time. */
  isOverlapping: boolean
}

/** Lets several processes do something at the same moment. */
export async function meet<T>(
  orders: readonly (readonly [house: HouseProcess, name: string, ...given: readonly unknown[]])[],
): Promise<Meeting<T>> {
  const moment = Date.now() + soonMs
  const met = await Promise.all(orders.map(([house, name, ...given]): Promise<Met<T>> => house.at(moment, name, given)))
  const isOverlapping = Math.max(...met.map(({ began }) => began)) < Math.min(...met.map(({ ended }) => ended))
  return { values: met.map(({ value }) => value), isOverlapping }
}
