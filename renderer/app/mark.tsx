/** The product's icon. */
export function Mark({ size }: { size: number }) {
  return <img src="./icon.svg" width={size} height={size} alt="" className="shrink-0" />
}
