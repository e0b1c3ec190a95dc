# The course in JupyterLab for one person, who is not root. Built and started with:
#
#   docker build --tag bertedu .
#   docker run --rm --publish 127.0.0.1:8888:8888 --volume bertedu-work:/course/work bertedu
#
# Then open the address that it prints. What you change stays in the volume bertedu-work, also under a newer image.

FROM python:3.11-slim AS wheel
WORKDIR /source
COPY . .
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.11-slim
# The second index has a torch without CUDA: some hundred megabytes instead of several gigabytes.
ENV PATH=/opt/bertedu/bin:$PATH \
    PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu \
    PIP_NO_CACHE_DIR=1 \
    PYTHONUTF8=1
COPY constraints.txt /tmp/
COPY --from=wheel /wheels /tmp/wheels/
RUN python -m venv /opt/bertedu \
    && python -m pip install -c /tmp/constraints.txt "$(echo /tmp/wheels/*.whl)[course,production,jax]" \
    && useradd --create-home --uid 1000 learner \
    && install --directory --owner learner --group learner /course/work
USER learner
WORKDIR /course
EXPOSE 8888
CMD ["sh", "-c", "bertedu start work && cd work && exec jupyter lab --ip=0.0.0.0 --no-browser 00_start_here.ipynb"]
