"""One loop for pre-training and fine-tuning. Walked through in notebook 08.

Every batch is cut by rows into a part for each process (`feeding.py`), and these into parts for accumulation; each
part's sums are divided by the counts of the whole batch. So one process with a large batch, several with
accumulation, and many by `torchrun` take the same steps.
"""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.state import is_initialized
from accelerate.utils import broadcast
from tqdm.auto import tqdm

from bertedu.model.pretrained import PretrainedModel
from bertedu.training.budget import Budget, Progress
from bertedu.training.chunked_scores import scoring_in_chunks
from bertedu.training.devices import HALF, choose_device, choose_precision, runs_ahead
from bertedu.training.divergence import WORST, check_losses, check_weights
from bertedu.training.feeding import OwnRows, Portion, cut_rows, portions, rows_of, shaping_for, to_device
from bertedu.training.interrupts import stopping_gently
from bertedu.training.layers import check_compiler, training_layers
from bertedu.training.lean_modules import lean_modules
from bertedu.training.metrics import Averages, MetricsLog
from bertedu.training.optimization import Pace, at_full_rate, build_optimizers, rate_factor, set_rates
from bertedu.training.processes import close_group_at_exit
from bertedu.training.resume import Standing, load_state, remove_leftovers, save_state
from bertedu.training.saving import Saving, SavingBeside
from bertedu.training.scaling import LossScaling
from bertedu.training.seeds import derive_seed
from bertedu.training.settings import TrainingSettings
from bertedu.training.sharding import put_together, sharded
from bertedu.training.task import Batch, Task


class Trainer:
    """Trains a model for a task until the budget is used up, into a run folder from which it can be resumed.

    The folder gets metrics.jsonl, tensorboard/, resume.safetensors while the run goes on, checkpoint/ (the
    last weights) and checkpoint-best/ (those with the best validation figures). pace says how fast each weight learns.
    """

    def __init__(
        self,
        model: PretrainedModel,
        task: Task,
        settings: TrainingSettings,
        budget: Budget,
        folder: str | Path,
        pace: Pace = at_full_rate,
    ):
        self.task, self.settings, self.budget, self.folder = task, settings, budget, Path(folder)
        self.device = choose_device(settings.device)
        self.precision = choose_precision(settings.precision, self.device)
        # All runs of a program share the state of Accelerate, and a second one may use another device or precision. So
        # it takes care of the processes alone: where and with which numbers to compute is up to the trainer.
        self.accelerator = Accelerator(cpu=self.device == "cpu" and not is_initialized(), device_placement=False)
        several = self.accelerator.num_processes > 1
        if several:
            close_group_at_exit()
        self.torch_device = self.accelerator.device if several else torch.device(self.device)
        if settings.compile:
            check_compiler(self.torch_device.type)
        # bare_model is whole; trained is the one that learns: the same, or this process's share of a copy.
        self.bare_model = self.trained = model.to(self.torch_device)
        if settings.fsdp:
            self.trained = sharded(model, self.torch_device, self.accelerator.num_processes)
        self.saving = SavingBeside(self.bare_model) if runs_ahead(self.torch_device.type) else Saving()
        rates = settings.learning_rate, settings.weight_decay, settings.betas
        dtype = torch.bfloat16 if self.precision == "bf16" else torch.float32
        optimizers = build_optimizers(settings.optimizer, self.trained, *rates, pace, dtype)
        self.model = self.trained if settings.fsdp else self.accelerator.prepare_model(self.trained)
        self.optimizers = [self.accelerator.prepare_optimizer(optimizer) for optimizer in optimizers]
        self.scaling = LossScaling(self.torch_device.type, self.precision == "fp16")
        self.progress, self.best, self.stopped = Progress(), -math.inf, False  # stopped by Ctrl-C or SIGTERM
        self.recent, self.recent_since = Averages(), (0, 0.0)

    def identity(self) -> dict[str, Any]:
        """What must be the same for this run to be resumed."""
        free = ("device", "compile", "data_workers", "log_steps", "save_seconds")
        settings = {name: value for name, value in asdict(self.settings).items() if name not in free}
        settings["training_seed"] = settings.pop("seed")  # the task may have a seed of its own
        return {**settings, **asdict(self.budget), **self.bare_model.identity(), **self.task.identity()}

    def load(self) -> Standing:
        """Put model and optimizers back as they were saved in the folder. Raises UserError for the state of another
        run.
        """
        return load_state(self.folder, self.trained, self.optimizers, self.identity())

    def run(self, resume: bool = False) -> Progress:
        """Train to the end of the budget, or until stopped by Ctrl-C; the state is saved in either case."""
        self.stopped = False  # it may be the same trainer that was stopped before
        if resume:
            self._go_on_from(self.load())
        main = self.accelerator.is_main_process
        if main:
            remove_leftovers(self.folder)
        self.log = MetricsLog(self.folder, self.progress.step) if main else None
        looks = "{desc}{percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"
        with closing(self.log) if self.log else nullcontext():
            if not resume:
                self._save()  # from the first moment on there is something to resume
            bar = tqdm(
                total=1.0, initial=self.budget.share(self.progress), mininterval=1, bar_format=looks, disable=not main
            )
            with stopping_gently(self._stop), bar as self.bar, self._modules():
                if not self._ended():  # before it was resumed
                    self._train()
            self._save()
            self.saving.finish()
        self.accelerator.wait_for_everyone()  # a process that goes on at once must find what the first one wrote
        return self.progress

    @contextmanager
    def _modules(self) -> Iterator[None]:
        """The model's modules as this run trains them."""
        settings, ahead = self.settings, runs_ahead(self.torch_device.type)
        sixteen_bits = settings.compile and self.precision in HALF  # without compiling, each cast is work of its own
        # The gradients of chunks are there before the loss is scaled, which float16 needs.
        in_chunks = ahead and getattr(self.task, "few_shapes", False) and self.precision != "fp16"
        with (
            lean_modules(self.trained, sixteen_bits) if ahead else nullcontext(),
            scoring_in_chunks(self.trained) if in_chunks and self.model is self.trained else nullcontext(),
            training_layers(self.trained, settings.compile, settings.checkpointing, few_shapes=ahead),
        ):
            yield

    def _stop(self) -> None:
        self.stopped = True

    def _train(self) -> None:
        self.model.train()
        clock, saved = time.perf_counter() - self.progress.seconds, time.perf_counter()
        for portion in self._portions():
            share = self.budget.share(self.progress)
            validated = int(share * self.settings.validations)
            self._step(portion, share)
            due = self._agree(time.perf_counter() - clock, time.perf_counter() - saved >= self.settings.save_seconds)
            now = self.budget.share(self.progress)
            self.bar.update(now - self.bar.n)
            if self.progress.step % self.settings.log_steps == 0:
                self._report()
            if int(now * self.settings.validations) > validated:
                self._validate()
            if self.stopped or self._ended():
                return
            if due:
                self._save()
                saved = time.perf_counter()

    def _ended(self) -> bool:
        return self.budget.share(self.progress) >= 1 or 0 < self.settings.patience <= self.progress.waited

    def _portions(self) -> Iterator[Portion]:
        """This process's portions of the batches, from where the run stands."""
        this, processes, device = self.accelerator.process_index, self.accelerator.num_processes, self.torch_device.type
        rows = OwnRows(self.task, this, processes, shaping_for(self.task, device, self.settings.compile))
        return portions(rows, self.progress, self.budget, self.settings.data_workers, pinned=device == "cuda")

    def _counts(self, portion: Portion) -> dict[str, int]:
        """The counts of the whole batch: those of all processes' rows, added up."""
        own = portion.counts
        if self.accelerator.num_processes == 1:
            return own
        mine = torch.tensor(list(own.values()), device=self.torch_device) * portion.counted
        return dict(zip(own, self.accelerator.reduce(mine).tolist(), strict=True))

    def _step(self, portion: Portion, share: float) -> None:
        """One optimizer step on one whole batch, of which this process has a portion."""
        accelerator, settings = self.accelerator, self.settings
        counts = self._counts(portion)
        parts = [part for part in cut_rows(portion.batch, settings.accumulation) if rows_of(part)]
        # Dropout too is a function of (seed, step, process), so a resumed run repeats it.
        torch.manual_seed(derive_seed(settings.seed, "dropout", self.progress.step, accelerator.process_index))
        for optimizer in self.optimizers:
            set_rates(optimizer, settings.learning_rate * rate_factor(share, settings.warmup), share)
        for i, part in enumerate(parts):
            last = i == len(parts) - 1
            with nullcontext() if last else accelerator.no_sync(self.model):
                with self._numbers():
                    sums = self.task.sums(self.model, to_device(part, self.torch_device))
                sums = {name: value * portion.counted for name, value in sums.items()}
                losses = [
                    self.task.loss_weights.get(name, 1.0) * value / max(1, counts[name[:-5]])
                    for name, value in sums.items()
                    if name.endswith("_loss")
                ]
                # Gradients are averaged over processes, and each holds a share of one sum.
                accelerator.backward(self.scaling.scale(sum(losses) * accelerator.num_processes))
            self.recent.add(sums, counts if i == 0 else {})
        self.scaling.step(
            self.optimizers, lambda: accelerator.clip_grad_norm_(self.model.parameters(), settings.clip_norm)
        )
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        self.progress.step += 1
        self.progress.tokens += portion.tokens

    def _report(self) -> None:
        """Write the means since the last report to the log and the progress bar."""
        self.recent.sums = {name: self.accelerator.reduce(value) for name, value in self.recent.sums.items()}
        tokens, seconds = self.recent_since
        speed = (self.progress.tokens - tokens) / max(1e-9, self.progress.seconds - seconds)
        check_losses(self.recent.sums, self.progress.step)
        figures = self.recent.means()
        self.recent, self.recent_since = Averages(), (self.progress.tokens, self.progress.seconds)
        if not self.log:
            return
        rate = self.optimizers[0].param_groups[0]["lr"]
        about = {"tokens": self.progress.tokens, "seconds": round(self.progress.seconds, 2)}
        self.log.write(self.progress.step, **about, learning_rate=rate, tokens_per_second=round(speed), **figures)
        shown = {name.replace("_", " "): f"{value:.3f}" for name, value in figures.items()}
        self.bar.set_postfix({**shown, "tokens/s": f"{speed:,.0f}"}, refresh=False)

    def _numbers(self) -> torch.autocast:
        """Matrix products in 16 bits where the run has such a precision."""
        return torch.autocast(self.torch_device.type, HALF.get(self.precision), enabled=self.precision in HALF)

    def _put_together(self) -> None:
        """Give the whole model the weights as they are now, where the processes have shares of them."""
        if self.settings.fsdp:
            put_together(self.trained, self.bare_model)

    def _validate(self) -> None:
        """Look at the validation set; keep the weights if they are the best so far."""
        self._put_together()
        check_weights(self.bare_model, self.progress.step)
        with self._numbers():
            figures = self.task.validate(self.bare_model, self.torch_device)
        self.model.train()
        if not figures:
            return
        quality = self._first(self.task.quality(figures))
        quality = WORST if math.isnan(quality) else quality
        better = quality > self.best
        self.best, self.progress.waited = max(quality, self.best), 0 if better else self.progress.waited + 1
        if self.log:
            self.log.write(self.progress.step, **{f"validation_{name}": value for name, value in figures.items()})
            if better:
                self.bare_model.save_pretrained(self.folder / "checkpoint-best")

    def _first(self, number: float) -> float:
        """The first process's number: where processes compute it a little differently, all go by the same."""
        if self.accelerator.num_processes == 1:
            return number
        return float(broadcast(torch.tensor([number], dtype=torch.float64, device=self.torch_device))[0])

    def _save(self) -> None:
        # Each process's own sums [P]: added up sooner or later, they would be rounded in another order.
        sums = {name: self.accelerator.gather(value.reshape(1)) for name, value in self.recent.sums.items()}
        check_losses({name: parts.sum() for name, parts in sums.items()}, self.progress.step)
        self._put_together()
        check_weights(self.bare_model, self.progress.step)
        main = self.accelerator.is_main_process
        since, scaling = self.recent_since, self.scaling.state()
        standing = Standing(self.progress, self.best, sums, self.recent.counts, since, scaling)
        if main or self.settings.fsdp:
            save_state(self.folder, self.trained, self.optimizers, standing, self.identity(), main, self.saving.tensors)
        if main:
            self.saving.model(self.bare_model, self.folder / "checkpoint")

    def _go_on_from(self, standing: Standing) -> None:
        """Take up a saved run, the figures since the last line of its log too."""
        self.progress, self.best, self.recent_since = standing.progress, standing.best, standing.since
        this, processes = self.accelerator.process_index, self.accelerator.num_processes
        for name, parts in standing.sums.items():
            own = parts[this] if len(parts) == processes else parts.sum() * (this == 0)
            self.recent.sums[name] = own.to(self.torch_device)
        self.recent.counts = dict(standing.counts)
        self.scaling.load(standing.scaling)

    def _agree(self, seconds: float, due: bool) -> bool:
        """Take the first process's clock and time to save, and anyone's wish to stop: all must take the same steps."""
        if self.accelerator.num_processes > 1:
            mine = [seconds, float(due)] if self.accelerator.is_main_process else [0.0, 0.0]
            shared = torch.tensor([*mine, float(self.stopped)], device=self.torch_device)
            seconds, saves, stops = self.accelerator.reduce(shared).tolist()
            self.stopped, due = stops > 0, saves > 0
        self.progress.seconds = seconds
        return due


@torch.no_grad()
def evaluate(model: torch.nn.Module, task: Task, batches: Sequence[Batch], device: torch.device) -> dict[str, float]:
    """The means of the task's figures over prepared batches, in evaluation mode (no dropout)."""
    model.eval()
    averages = Averages()
    for batch in batches:
        averages.add(task.sums(model, to_device(batch, device)), task.counts(batch))
    return averages.means()
