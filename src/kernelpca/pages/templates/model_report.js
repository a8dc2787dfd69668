// Buttons of class "copy" copy the text of the element that data-copies names, and say so.
function copyBySelecting(element) {
  const selection = getSelection();
  selection.selectAllChildren(element);
  const done = document.execCommand("copy");
  selection.removeAllRanges();
  return done ? Promise.resolve() : Promise.reject(new Error("not copied"));
}
for (const button of document.querySelectorAll("button.copy")) {
  const source = document.getElementById(button.dataset.copies);
  const say = (text) => {
    button.textContent = text;
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };
  button.addEventListener("click", () => {
    const written = navigator.clipboard ? navigator.clipboard.writeText(source.textContent) : Promise.reject(new Error("no clipboard"));
    written.catch(() => copyBySelecting(source)).then(() => say("Copied"), () => say("Select and copy by hand"));
  });
}
